"""What the image-conditioned denoisers share: the encoded image, its density, the length, and guidance.

Both the scanpath stage of coarse to fine and the paper's form are a denoiser over gaze tokens that attends to an image.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from stdiffeye.arrays import Floats
from stdiffeye.model.conditions import ConditionEmbedding, Conditions, LengthHead
from stdiffeye.model.denoiser import Denoiser
from stdiffeye.model.fixation_tokens import POSITION_STD, position_to_token
from stdiffeye.model.image import DensityHead, Fusion, ImageConfig, grid_centres, phase_of
from stdiffeye.model.layers import EncodedImage
from stdiffeye.model.unet import UNet
from stdiffeye.systems.base import Query, TrainableSystem, features_of
from stdiffeye.systems.history_factors import Situation
from stdiffeye.systems.next_fixation import Histories, Shape, sampled_log_density


def guided(output: Tensor, blank: Tensor, guidance: float) -> Tensor:
    """What is due to the image, exaggerated or moderated: from the output for a blank image to that for the image."""
    return blank + guidance * (output - blank)


class ImageConditionedDenoiser(TrainableSystem):
    """A denoiser of gaze tokens, given an image, the task's words, viewing style and time."""

    fusion: Fusion
    density: DensityHead | None
    denoiser: Denoiser | UNet
    conditions: ConditionEmbedding
    length: LengthHead
    null_image: nn.Parameter
    position: Tensor
    cell_std: float

    def _build_image_side(self, config: ImageConfig, styles: int, pooled_sets: int = 0) -> None:
        """The image's side of the network, and the positions of its tokens in the units of gaze tokens."""
        self.fusion = Fusion(config)
        self.density = DensityHead(config, styles, pooled_sets) if config.density else None
        self.register_buffer("position", position_to_token(grid_centres(config.rows, config.columns)), persistent=False)
        # A cell is a square of even density: its standard deviation is its side / √12.
        self.cell_std = (1 / config.rows + 1 / config.columns) / 2 / POSITION_STD / 12**0.5

    def encode_image(
        self, features: Tensor, text_embedding: Tensor, style: Tensor, dropped: Tensor | None = None
    ) -> EncodedImage:
        """Everything that depends on P images alone; `dropped` ones (P,) are blank, with their centre bias."""
        target = self.fusion.target_map(features, text_embedding)  # (P, N), or None
        v_joint = self.fusion(features, text_embedding, target)  # (P, N, D)
        if dropped is not None:
            v_joint = torch.where(dropped[:, None, None], self.null_image, v_joint)
            target = None if target is None else torch.where(dropped[:, None], 0, target)
        if self.density is None:
            return self.denoiser.encode_image(v_joint, self.position)
        phases = self.density.of_phases(v_joint, style, target) if self.fusion.config.phases else None  # (P, K, N)
        return self.denoiser.encode_image(v_joint, self.position, self.density(v_joint, style, target), phases)

    def encode_query(self, query: Query, guidance: float) -> tuple[Tensor, EncodedImage, EncodedImage | None]:
        """The number of the style (1,), the encoded image and, for guidance other than 1, the blank one."""
        device = self.position.device
        features, text = features_of(query).to(device), query.text_embedding.to(device)
        style = torch.tensor([self.style_number(query.style)], device=device)
        everything = torch.ones(1, dtype=torch.bool, device=device)
        blank = None if guidance == 1 else self.encode_image(features, text, style, everything)
        return style, self.encode_image(features, text, style), blank

    def picture_density(self, query: Query) -> Floats | None:
        log_density = self.encode_query(query, guidance=1.0)[1].log_density
        return None if log_density is None else self._on_cells(log_density)[0]

    def _densities_after(self, query: Query, fixations: Sequence[int]) -> list[Floats] | list[None]:
        """The picture's density for the fixation after so many: of its phase of viewing, where these are learned."""
        image = self.encode_query(query, guidance=1.0)[1]
        if image.log_density is None:
            return [None] * len(fixations)
        if image.phase_log_density is None:
            return [self._on_cells(image.log_density)[0]] * len(fixations)
        phases = self._on_cells(image.phase_log_density[0])
        return [phases[phase] for phase in phase_of(torch.tensor(fixations)).tolist()]

    def _on_cells(self, log_density: Tensor) -> Floats:
        """(n, N) → (n, rows, columns), not as logarithms."""
        cells = self.config.image.rows, self.config.image.columns
        return log_density.double().exp().cpu().numpy().reshape(-1, *cells)

    @abstractmethod
    def next_positions(self, query: Query, histories: Histories) -> Iterator[Tensor]:
        """For each history (n, 2) samples of the next fixation, in [0, 1] of the picture."""

    @torch.inference_mode()
    def log_densities(self, query: Query, histories: Histories, shape: Shape) -> Floats:
        """(histories, rows, columns) by sampling the next fixation with the history clamped in the denoiser.

        Nothing is sampled where the calibration found that samples add nothing to the other factors.
        """
        config, found = self.config.next_fixation, []
        sampled: Iterator[Tensor | None] = iter([None] * len(histories))
        if config.history.needs_samples(query.style):
            sampled = self.next_positions(query, histories)
        for tensor, (picture, now) in zip(sampled, self.situations(query, histories), strict=True):
            xy = None if tensor is None else tensor.double().cpu().numpy()
            found.append(sampled_log_density(xy, picture, shape, now, config, query.style))
        return np.stack(found)

    @torch.inference_mode()
    def situations(self, query: Query, histories: Histories) -> list[tuple[Floats | None, Situation]]:
        """For each history the picture's own density for the next fixation, and where the fixations so far are."""
        counts = [0 if path is None else len(path) for path in histories]
        pictures, aspect = self._densities_after(query, counts), query.frame.width_px / query.frame.height_px
        phases = phase_of(torch.tensor(counts)).tolist()
        before = [np.empty((0, 2)) if path is None else query.frame.normalise(path.xy_px) for path in histories]
        return [
            (picture, Situation(xy, phase, aspect)) for picture, xy, phase in zip(pictures, before, phases, strict=True)
        ]

    def length_logits(self, image: EncodedImage, conditions: Conditions) -> Tensor:
        """(B, max) logits of 1, 2, … tokens."""
        without_length = replace(conditions, length=torch.zeros_like(conditions.length))
        return self.length.logits(image, self.conditions(without_length))
