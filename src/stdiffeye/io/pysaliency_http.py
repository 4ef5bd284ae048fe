"""Scanpath models behind pysaliency's HTTP protocol, version 1: the client, and what both sides agree on.

GET /type answers {"type": "ScanpathModel", "version": "v1.0.0"}. POST /conditional_log_density takes a form
(multipart/form-data) with the picture as file `stimulus` and as text `json_data` the object {"x_hist": […],
"y_hist": […], "t_hist": […], "attributes": {…}}: fixations so far in pixels and seconds. It answers {"log_density":
[[…], …]}: a row per row of pixels, the natural logarithm of a probability per pixel; the probabilities sum to 1.
"""

from __future__ import annotations

import io
import json
import secrets
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from PIL import Image

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.gaze.timeline import begun_s

TYPE = {"type": "ScanpathModel", "version": "v1.0.0"}
TYPE_PATH, DENSITY_PATH = "/type", "/conditional_log_density"
TIMEOUT_S = 120.0
LARGEST_ANSWER = 1_000_000_000  # bytes: 40 megapixels as text
SUM_TOLERANCE = 0.01


class RemoteModel:
    """A model that answers pysaliency's HTTP protocol.

    Parameters
    ----------
    url : str
        Its address, as "http://127.0.0.1:8642".

    Raises
    ------
    InputError
        Where nothing answers there, or something else than a scanpath model of version 1.
    """

    def __init__(self, url: str) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InputError(f"{url!r} is no address of a server: expected http://HOST:PORT")
        self.url = url.rstrip("/")
        said = self._answer(urllib.request.Request(self.url + TYPE_PATH))
        if {key: said.get(key) for key in TYPE} != TYPE:
            raise InputError(f"{url} is no {TYPE['type']} of version {TYPE['version']}: it says {json.dumps(said):.80}")

    def log_density(self, picture: Image.Image, history: Scanpath | None, task: str = "") -> Floats:
        """(height, width) log-probability of every pixel for the next fixation; the history is in its pixels."""
        past = history_fields(history) | {"attributes": {"task": task} if task else {}}
        content = io.BytesIO()
        picture.save(content, "PNG")
        kind, body = _form(json.dumps(past), content.getvalue())
        request = urllib.request.Request(self.url + DENSITY_PATH, body, {"Content-Type": kind})
        return log_density_of(self._answer(request), (picture.height, picture.width), self.url)

    def _answer(self, request: urllib.request.Request) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
                said = json.loads(response.read(LARGEST_ANSWER))
        except urllib.error.HTTPError as error:
            raise InputError(f"{self.url} refused the request ({error.code}): {error.read(200)!r}") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise InputError(
                f"{self.url} gave no answer that can be read ({reason}): is a model served there?"
            ) from None
        if not isinstance(said, dict):
            raise InputError(f"{self.url} answered {type(said).__name__}, expected a JSON object")
        return said


def history_fields(history: Scanpath | None) -> dict[str, list[float]]:
    """x_hist, y_hist and t_hist of the fixations so far."""
    if history is None:
        return {"x_hist": [], "y_hist": [], "t_hist": []}
    onsets = [begun_s(history, number) for number in range(len(history))]
    return {"x_hist": history.xy_px[:, 0].tolist(), "y_hist": history.xy_px[:, 1].tolist(), "t_hist": onsets}


def log_density_of(answer: dict[str, Any], shape: tuple[int, int], where: str) -> Floats:
    """(rows, columns) of an answer, which is checked and made to sum to exactly 1."""
    try:
        log_density = np.array(answer["log_density"], dtype=np.float64)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{where} answered no log_density of numbers") from None
    if log_density.shape != shape or np.isnan(log_density).any() or log_density.max() == np.inf:
        raise InputError(f"{where}: expected a log_density of {shape[0]}×{shape[1]} numbers, got {log_density.shape}")
    total = float(np.exp(log_density).sum())
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError(f"{where}: a density must sum to 1, got {total:.4g}")
    return np.asarray(log_density - np.log(total))


def _form(fields: str, picture: bytes) -> tuple[str, bytes]:
    """Content type and body of the form."""
    boundary = secrets.token_hex(16)
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="json_data"\r\n\r\n{fields}\r\n--{boundary}\r\n'
    head += (
        'Content-Disposition: form-data; name="stimulus"; filename="stimulus.png"\r\nContent-Type: image/png\r\n\r\n'
    )
    return f"multipart/form-data; boundary={boundary}", head.encode() + picture + f"\r\n--{boundary}--\r\n".encode()
