"""Pages that are one file: style, tables and pictures inside, no script, nothing fetched; light and dark."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stdiffeye.version import __version__

STYLE = """
:root { color-scheme: light dark; --page: #f6f6f4; --ink: #1c1c1c; --soft: #5a5a5a; --panel: #ffffff; --line: #d2d2ce;
  --accent: #0060a8; --bad: #a8321e; }
@media (prefers-color-scheme: dark) { :root { --page: #141516; --ink: #ececea; --soft: #a9a9a6; --panel: #1f2123;
  --line: #3d4043; --accent: #6cb6ff; --bad: #ff9a85; } }
@media print { :root { --page: #ffffff; --panel: #ffffff; } section { break-inside: avoid; } nav { display: none; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1.2rem clamp(.8rem, 3vw, 2.5rem); background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 75rem; margin: auto; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 0 0 .6rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
p { margin: .3rem 0 .8rem; max-width: 48rem; }
.soft, footer { color: var(--soft); font-size: .9rem; }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 1rem;
  margin: 1.1rem 0; }
.wide { overflow-x: auto; max-height: 32rem; overflow-y: auto; scrollbar-width: thin;
  background: linear-gradient(to left, var(--panel) 40%, transparent) right / 3rem 100% no-repeat local,
    linear-gradient(to left, var(--line), transparent) right / 1rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { position: sticky; top: 0; background: var(--panel); color: var(--soft); font-weight: 600; white-space: normal;
  vertical-align: bottom; }
th.word, td.word { text-align: left; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; }
figure { margin: .8rem 0 0; }
figure img { width: 100%; height: auto; display: block; background: #fff; border-radius: 4px; }
figcaption { color: var(--soft); font-size: .87rem; margin-top: .3rem; }
nav a { color: var(--accent); margin-right: 1rem; display: inline-block; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; font-size: .92rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.bad { color: var(--bad); }
"""
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page of parts that are HTML already; `title` is text."""
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n"
    )
    foot = f"<footer>Made by stdiffeye {escape(__version__)}.</footer>\n</main>\n</body>\n</html>\n"
    return head + "\n".join(parts) + "\n" + foot


def section(title: str, *parts: str, anchor: str = "") -> str:
    """A framed part of a page."""
    mark = f' id="{escape(anchor)}"' if anchor else ""
    return f"<section{mark}>\n<h2>{escape(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def paragraph(text: str, kind: str = "") -> str:
    """Text as a paragraph; `kind` is a class of the style ("soft", "bad")."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(rows: Sequence[Mapping[str, Any]], digits: Mapping[str, int] | None = None) -> str:
    """Rows as a table; the columns are the keys of all rows, and columns of words stand to the left.

    Examples
    --------
    >>> print(table([{"viewer": "a<b", "rms": 0.12345}], {"rms": 3}))  # doctest: +ELLIPSIS
    <div class="wide"><table>...<td class="word">a&lt;b</td><td>0.123</td>...
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))
    words = {key for key in columns if any(isinstance(row.get(key), str) for row in rows)}
    mark = {key: ' class="word"' if key in words else "" for key in columns}
    head = "".join(f"<th{mark[key]}>{escape(key)}</th>" for key in columns)
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{mark[key]}>{cell(row.get(key), (digits or {}).get(key))}</td>" for key in columns)
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def facts(values: Mapping[str, Any], digits: Mapping[str, int] | None = None) -> str:
    """Names and values as a list."""
    lines = [f"<dt>{escape(key)}</dt><dd>{cell(value, (digits or {}).get(key))}</dd>" for key, value in values.items()]
    return "<dl>" + "".join(lines) + "</dl>"


def figure(png: bytes, caption: str) -> str:
    """A picture within the page."""
    uri = "data:image/png;base64," + base64.b64encode(png).decode("ascii")
    return f'<figure><img alt="{escape(caption)}" src="{uri}"><figcaption>{escape(caption)}</figcaption></figure>'


def small_png(png: bytes, longest_px: int) -> bytes:
    """A picture with at most so many px, and at most 256 colours, so that a page of many stays small."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((longest_px, longest_px))
    buffer = io.BytesIO()
    picture.quantize(256).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def cell(value: Any, digits: int | None = None) -> str:
    """A value as escaped text: numbers rounded, – for what is unknown."""
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{digits}f}" if digits is not None else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return escape(", ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in value))
    return escape(f"{value:,}" if isinstance(value, int) else str(value))


def escape(text: str) -> str:
    """Text that cannot be taken for HTML."""
    return html.escape(str(text), quote=True)
