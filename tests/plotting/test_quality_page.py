"""The page of data quality: rules in words, figures that can be read on a narrow screen."""

from __future__ import annotations

import re

from stdiffeye.gaze.quality import QualityThresholds
from stdiffeye.plotting.quality_page import RULES, quality_page

OVERALL = {"trials": 2, "kept": 2, "missing_share": 0.0, "rms_s2s_deg": 0.02}
THRESHOLDS = dict.fromkeys(RULES) | {"max_missing_share": 0.25}


def made(**changes: object) -> str:
    viewers = [{"subject": str(k), "missing_share": 0.0, "rms_s2s_deg": 0.02 + k / 100} for k in range(2)]
    quality = {"total": 2, "kept": 2, "dropped": {}, "overall": OVERALL, "viewers": viewers, "files": [], "trials": []}
    return quality_page(quality | {"thresholds": THRESHOLDS} | changes)


def test_every_rule_has_words_and_says_when_it_is_off():
    assert set(RULES) == set(QualityThresholds.__dataclass_fields__)
    page = made()
    assert "<dt>largest share of lost samples</dt><dd>0.25</dd>" in page
    assert "<dt>worst RMS-S2S (deg)</dt><dd>off</dd>" in page


def test_figures_scroll_on_a_narrow_screen_and_show_only_what_differs_from_zero():
    page = made()
    assert re.search(r'class="wide"><div style="min-width: 36rem; max-width: 46rem"><figure>', page)
    assert "<figure>" not in made(viewers=[{"missing_share": 0.0}, {"missing_share": 0.0}])
