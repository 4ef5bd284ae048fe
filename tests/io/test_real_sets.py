"""The real data sets, where they are: every row is loaded."""

from __future__ import annotations

import pytest

from stdiffeye.io.recordings import read_recording
from stdiffeye.io.sets import read_set

pytestmark = pytest.mark.real_data


def test_the_whole_of_coco_search18_is_loaded(real_data):
    count = fixations = 0
    splits: dict[str, int] = {}
    for trial in read_set("coco-search18-tp", real_data / "coco_search18"):
        count += 1
        fixations += len(trial.scanpath)
        splits[trial.split] = splits.get(trial.split, 0) + 1
        assert trial.scanpath.duration_ms is not None
        assert trial.target_box_px is not None
    assert splits == {"train": 21812, "validation": 2068}
    assert count == 23880
    assert fixations > 80000


def test_every_recording_is_read(real_data):
    files = [path for path in sorted((real_data / "recordings").iterdir()) if path.suffix in (".asc", ".gz", ".edf")]
    assert len(files) == 12
    for path in files:
        assert sum(len(block) for block in read_recording(path)) > 0, path
