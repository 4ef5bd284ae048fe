"""Small EyeLink ASC files of the real layouts, and a slow plain reader that the fast one is checked against."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

HEADER = """** CONVERTED FROM made.edf using edfapi 4.2.1
** TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED
**

MSG\t1000 DISPLAY_COORDS 0 0 1023 767
MSG\t1010 !CAL
>>>>>>> CALIBRATION (HV9,P-CR) FOR LEFT: <<<<<<<<<
MSG\t1010 !CAL eye check box: (L,R,T,B)
\t  -77     7   -80     7
   7554.5  200.42  61.681
"""


def block(start: int, rate: float, rows: list[str], eyes: str = "LEFT", extra: str = "", res: str = "35.00") -> str:
    """One START … END with the given sample lines."""
    head = f"START\t{start} \t{eyes}\tSAMPLES\tEVENTS\nPRESCALER\t1\nVPRESCALER\t1\nPUPIL\tAREA\n"
    head += f"EVENTS\tGAZE\t{eyes}\tRATE\t{rate:7.2f}\tTRACKING\tCR\tFILTER\t2\n"
    head += f"SAMPLES\tGAZE\t{eyes}{extra}\tRATE\t{rate:7.2f}\tTRACKING\tCR\tFILTER\t2\n"
    end = f"END\t{start + len(rows)} \tSAMPLES\tEVENTS\tRES\t  {res}\t  {res}\n"
    return head + "".join(row + "\n" for row in rows) + end


def mono(start: int, count: int, step: float = 1.0, x: float = 500.0) -> list[str]:
    """Steady gaze of one eye."""
    return [
        f"{start + step * i:g}\t  {x + i % 7 / 10:.1f}\t  {300 + i % 3 / 10:.1f}\t 1103.0\t..." for i in range(count)
    ]


def write(path: Path, text: str) -> Path:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return path


def plain_samples(path: Path, eyes: int) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of all samples between START and END, read the slow and obvious way."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.name.endswith(".gz") else raw).decode("latin-1")
    time, values, inside = [], [], False
    for line in text.split("\n"):
        words = line.split()
        if not words:
            continue
        if words[0] in ("START", "END"):
            inside = words[0] == "START"
        elif inside and line[0].isdigit():
            time.append(float(words[0]))
            values.append([np.nan if word == "." else float(word) for word in words[1 : 1 + 3 * eyes]])
    return np.array(time), np.array(values)
