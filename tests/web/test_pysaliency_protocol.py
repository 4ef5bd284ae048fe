"""Our models for pysaliency and others' for us, over its HTTP protocol on loopback.

The release of pysaliency that can be installed has no `http_models`, so its client is written here from the protocol
(github.com/matthias-k/pysaliency, pysaliency/http_models.py); everything else of it is pysaliency itself.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import httpx
import numpy as np
import pytest
import uvicorn
from fastapi.testclient import TestClient
from PIL import Image

from stdiffeye import evaluate
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.generation import Model
from stdiffeye.generation.pysaliency_model import history_of, scanpath_model
from stdiffeye.io.pysaliency_hdf5 import write_pysaliency
from stdiffeye.io.pysaliency_http import RemoteModel
from stdiffeye.web.pysaliency_server import make_pysaliency_app
from stdiffeye.web.server import bound

SIZE = 64, 48
PAST = {"x_hist": [10.0, 40.0], "y_hist": [5.0, 30.0], "t_hist": [0.0, 0.3], "attributes": {}}


def pysaliency():
    """The library itself, whose imports warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pysaliency")


@pytest.fixture(scope="module")
def quick(model: Model) -> Model:
    """The tiny model with few samples of the next fixation."""
    config = replace(model.first.config.next_fixation, samples=4, steps=2)
    model.first.config = replace(model.first.config, next_fixation=config)
    return model


@pytest.fixture(scope="module")
def url(quick: Model) -> Iterator[str]:
    with bound("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(make_pysaliency_app(quick), log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> list[Trial]:
    """Two viewers of two pictures."""
    folder, rng, trials = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0), []
    for name in ("a.png", "b.png"):
        pixels = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize(SIZE, Image.Resampling.NEAREST).save(folder / name)
        for subject in "12":
            path = Scanpath(rng.uniform([1, 1], [62, 46], (3, 2)), Frame(*SIZE), [200.0, 250.0, 300.0])
            trials.append(Trial(name, subject, path, picture=folder / name))
    return trials


def asked(url: str, picture: Path, fields: dict) -> httpx.Response:
    content = BytesIO()
    with Image.open(picture) as image:
        image.save(content, "PNG")
    form = {"json_data": json.dumps(fields)}
    return httpx.post(f"{url}/conditional_log_density", data=form, files={"stimulus": content.getvalue()})


def test_the_server_says_what_it_is_and_answers_a_density_over_the_pixels(url, quick, people):
    assert httpx.get(f"{url}/type").json() == {"type": "ScanpathModel", "version": "v1.0.0"}
    answer = asked(url, people[0].picture, PAST)
    assert answer.status_code == 200
    log_density = np.array(answer.json()["log_density"])
    assert log_density.shape == SIZE[::-1]
    assert np.exp(log_density).sum() == pytest.approx(1, abs=1e-4)
    history = Scanpath([[10, 5], [40, 30]], Frame(*SIZE), onset_ms=[0, 300])
    np.testing.assert_allclose(log_density, quick.log_density(people[0].picture, history), atol=1e-5)


def test_pysaliency_scores_the_served_model_as_it_scores_the_model_itself(url, quick, people, tmp_path):
    library = pysaliency()

    class HTTPScanpathModel(library.models.ScanpathModel):
        def conditional_log_density(self, stimulus, x_hist, y_hist, t_hist, attributes=None, out=None):
            content = BytesIO()
            Image.fromarray(library.datasets.as_stimulus(stimulus).stimulus_data).save(content, "PNG")
            past = {"x_hist": list(x_hist), "y_hist": list(y_hist), "t_hist": list(t_hist), "attributes": {}}
            form = {"json_data": json.dumps(past)}
            answer = httpx.post(f"{url}/conditional_log_density", data=form, files={"stimulus": content.getvalue()})
            return np.array(answer.json()["log_density"])

    write_pysaliency(tmp_path / "people.hdf5", people)
    fixations = library.datasets.read_hdf5(str(tmp_path / "people.hdf5"))
    stimuli = library.FileStimuli([str(people[0].picture), str(people[2].picture)])
    served = HTTPScanpathModel().log_likelihoods(stimuli, fixations)
    ours = scanpath_model(quick).log_likelihoods(stimuli, fixations)
    assert len(served) == sum(len(trial.scanpath) for trial in people)
    np.testing.assert_allclose(served, ours, atol=1e-5)
    cells = [trial.scanpath.xy_px[0].astype(int) for trial in people]
    first = [quick.log_density(t.picture)[y, x] for t, (x, y) in zip(people, cells, strict=True)]
    np.testing.assert_allclose(ours[fixations.lengths == 0], first, atol=1e-9)


def test_evaluate_judges_a_model_behind_a_url_as_the_model_itself(url, quick, people, tmp_path):
    fields = {"metrics": ["DTW"], "protocols": ["mean"], "samples": 2}
    result = evaluate(people, {"ours": quick}, tmp_path / "r.json", likelihood=True, url=[f"served={url}"], **fields)
    ours, served = (result.likelihood[name]["ll"].per_stimulus for name in ("ours", "served"))
    np.testing.assert_allclose(ours, served, atol=0.35)  # one is per pixel, the other per cell of the grid
    assert result["ours"]["mean"]["DTW"].value > 0
    assert set(json.loads((tmp_path / "r.json").read_text())["likelihood"]["systems"]) == {
        *("ours", "served"),
        *("gold standard", "centre bias"),
    }
    alone = evaluate(people, {}, tmp_path / "alone.json", url=[url])
    assert url in str(alone)
    assert "information gain" in (tmp_path / "alone.md").read_text()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ([1], "json_data must be an object"),
        ({"x_hist": ["a"], "y_hist": [1], "t_hist": [1]}, "must be lists of numbers"),
        ({"x_hist": [1, 2], "y_hist": [1], "t_hist": [1]}, "of the same length"),
        ({"x_hist": [1] * 2000, "y_hist": [1] * 2000}, "at most 1000 fixations"),
    ],
)
def test_what_is_no_history_is_refused_in_a_sentence(url, people, fields, words):
    answer = asked(url, people[0].picture, fields)
    assert answer.status_code == 422
    assert words in answer.json()["error"]


def test_only_loopback_names_are_answered(quick):
    client = TestClient(make_pysaliency_app(quick), base_url="http://elsewhere.example")
    assert client.get("/type").status_code == 421


def test_addresses_without_a_scanpath_model_are_refused(url):
    with pytest.raises(InputError, match="is no address of a server"):
        RemoteModel("file:///etc/passwd")
    with pytest.raises(InputError, match=r"gave no answer|refused the request"):
        RemoteModel(url + "/elsewhere")
    with pytest.raises(InputError, match="a file of gaze has no likelihood"):
        evaluate([Trial("a", "1", Scanpath([[1, 1]], Frame(*SIZE)))], {}, likelihood=True)


def test_a_history_of_pysaliency_has_no_nan_and_counted_times_are_no_times():
    frame = Frame(*SIZE)
    assert history_of([np.nan], [np.nan], [np.nan], frame) is None
    path = history_of([1, 2, np.nan], [3, 4, np.nan], [0, 1, np.nan], frame)
    assert path == Scanpath([[1, 3], [2, 4]], frame)
    assert history_of([1, 2], [3, 4], [0.1, 0.4], frame).onset_ms.tolist() == [100, 400]
