"""How fast pictures become tokens: `python benchmarks/bench_encoder.py`. Ratios are within this run.

Ways of doing the same thing take turns, and each is judged by the CPU time of its best turn, so that other work on the
machine disturbs all of them alike.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from stdiffeye.encoders import FeatureCache
from stdiffeye.encoders.efficientnet import EfficientNetLite0, normalise, plain_network, prepare
from stdiffeye.encoders.picture import load_picture, squash

TURNS = 4
BATCH = 8
PICTURE_PX = (800, 600)
PHOTOGRAPH_PX = (4000, 3000)


def main() -> None:
    torch.set_num_threads(1)
    encoder = EfficientNetLite0()
    with tempfile.TemporaryDirectory() as folder:
        pictures = [make_picture(Path(folder) / f"{number}.jpg", PICTURE_PX, number) for number in range(BATCH)]
        photograph = make_picture(Path(folder) / "photograph.jpg", PHOTOGRAPH_PX, 0)
        compare_networks(encoder, pictures)
        compare_decoding(photograph)
        compare_cache(encoder, pictures, Path(folder) / "cache")
        compare_threads(encoder, pictures)


def compare_networks(encoder: EfficientNetLite0, pictures: list[Path]) -> None:
    pixels, plain_net = normalise(prepare(pictures)), plain_network()

    @torch.inference_mode()
    def plain_batch() -> None:
        plain_net.extract_features(pixels)

    @torch.inference_mode()
    def plain_single() -> None:
        for picture in pixels:
            plain_net.extract_features(picture[None])

    @torch.inference_mode()
    def bfloat16() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            plain_net.extract_features(pixels[:1])

    plain, single, ours = best_seconds([plain_batch, plain_single, lambda: encoder.encode(pictures)])
    (narrow,) = best_seconds([bfloat16], turns=1)
    print(f"encode                      {BATCH / ours:6.1f} pictures/s on one core, decoding included")
    print(f"  against batches of {BATCH}      {plain / ours:6.2f}× (plain network)")
    print(f"  against one by one        {single / ours:6.2f}× (plain network, batch norm not folded)")
    print(f"  against bfloat16          {narrow * BATCH / ours:6.2f}×")


def compare_decoding(photograph: Path) -> None:
    def whole() -> None:
        load_picture(photograph).resize((512, 384), Image.Resampling.BICUBIC)

    full, ours = best_seconds([whole, lambda: squash(photograph, 384, 512)])
    print(f"12-megapixel JPEG to 512×384 {1000 * ours:5.0f} ms, {full / ours:.2f}× faster than decoding it whole")


def compare_cache(encoder: EfficientNetLite0, pictures: list[Path], folder: Path) -> None:
    cache = FeatureCache(encoder, folder)
    cache.fill(pictures, quiet=True)
    compute, read = best_seconds([lambda: encoder.encode(pictures), lambda: cache.get(pictures)])
    megabytes = BATCH * np.prod(cache.shape) * 2 / 1e6
    print(f"read from the cache         {BATCH / read:6.0f} pictures/s, {megabytes / read:.0f} MB/s")
    print(f"  against encoding          {compute / read:6.0f}×")


def compare_threads(encoder: EfficientNetLite0, pictures: list[Path]) -> None:
    one = encoder.encode(pictures)
    alone = torch.cat([encoder.encode([picture]) for picture in pictures])
    torch.set_num_threads(2)
    two = encoder.encode(pictures)
    torch.set_num_threads(1)
    kept = (one.half() == two.half()).float().mean()
    print(f"alone or in a list          {(one - alone).abs().max():.1e} largest difference")
    difference = (one - two).abs().max()
    print(f"one thread or two           {difference:.1e} of {one.abs().max():.0f}; {kept:.2%} the same as float16")


def best_seconds(ways: list[Callable[[], object]], turns: int = TURNS) -> list[float]:
    """CPU seconds of the best turn of each way, after one turn to warm up."""
    seconds = [[] for _ in ways]
    for way in ways:
        way()
    for _ in range(turns):
        for way, taken in zip(ways, seconds, strict=True):
            began = time.process_time()
            way()
            taken.append(time.process_time() - began)
    return [min(taken) for taken in seconds]


def make_picture(path: Path, size_px: tuple[int, int], seed: int) -> Path:
    blobs = np.random.default_rng(seed).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    Image.fromarray(blobs).resize(size_px, Image.Resampling.BICUBIC).save(path, quality=92)
    return path


if __name__ == "__main__":
    main()
