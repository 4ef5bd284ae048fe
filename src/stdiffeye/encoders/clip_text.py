"""CLIP's text encoder, the paper's: words → 512 numbers (ViT-B/32). Needs the extra `full`.

Reference
---------
A. Radford et al.: Learning Transferable Visual Models From Natural Language Supervision. ICML 2021.
"""

from __future__ import annotations

import torch
from torch import Tensor

from stdiffeye.encoders.hub import load_model, load_tokenizer
from stdiffeye.encoders.word_table import checked

NAME = "clip"
HUB_ID = "openai/clip-vit-base-patch32"


class ClipText:
    """The frozen network as a `TextEncoder`; its vectors are as projected, not normalised.

    Parameters
    ----------
    where
        A folder written by `save_pretrained` (of the text model or of all of CLIP), or a hub id.
    download
        Allow the hub id to be fetched.
    """

    def __init__(self, where: str = HUB_ID, download: bool = False) -> None:
        self.name = f"{NAME}:{where}"
        self._network = load_model("CLIPTextModelWithProjection", where, ("clip", "clip_text_model"), download)
        self._tokenizer = load_tokenizer(where, download)
        self.width = int(self._network.config.projection_dim)

    @torch.inference_mode()
    def encode(self, words: str) -> Tensor:
        """(width,) float32; all zeros for "", free viewing. Words beyond the network's 77 tokens are cut."""
        if not checked(words):
            return torch.zeros(self.width)
        length = self._network.config.max_position_embeddings
        tokens = self._tokenizer([words], truncation=True, max_length=length, return_tensors="pt")
        return self._network(**tokens).text_embeds[0].clone()
