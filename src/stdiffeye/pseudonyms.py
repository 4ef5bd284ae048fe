"""Names of viewers become pseudonyms before anything is written.

A pseudonym is the beginning of a keyed hash (HMAC-SHA256) of the name. The key is made on first use and stays in the
user's own configuration folder, so the same viewer has the same pseudonym in every file, and nobody without the key
can tell who it is by trying names. Beside the key lies a file per pseudonym that says whose it is.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
from functools import lru_cache
from pathlib import Path

from stdiffeye.errors import InputError

FOLDER_VARIABLE = "STDIFFEYE_KEYS"
KEY, VIEWERS = "pseudonyms.key", "viewers"
KEY_BYTES, SHOWN_CHARACTERS = 32, 8
FORM = re.compile(rf"v[a-z2-7]{{{SHOWN_CHARACTERS}}}")


def pseudonym(name: str) -> str:
    """The pseudonym of a viewer: "v" and eight letters or digits; a pseudonym of ours stays as it is.

    Parameters
    ----------
    name : str
        What the recording calls the viewer, often the name of its file; "" stays "".

    Returns
    -------
    str
        The same for the same name and key; letters and digits only, as BIDS requires.
    """
    folder = keys_folder()
    if not name or (FORM.fullmatch(name) and (folder / VIEWERS / name).is_file()):
        return name
    written = name.encode(errors="surrogateescape")  # the bytes of a file's name that are no UTF-8 stay as they are
    digest = hmac.new(_key(folder), written, hashlib.sha256).digest()
    found = "v" + base64.b32encode(digest).decode().lower()[:SHOWN_CHARACTERS]
    _write_once(folder / VIEWERS / found, written)
    return found


def keys_folder() -> Path:
    """Where the key lies: STDIFFEYE_KEYS, or the user's configuration folder."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return Path(given)
    configuration = os.environ.get("APPDATA") or os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(configuration) / "stdiffeye"


def _key(folder: Path) -> bytes:
    path = folder / KEY
    if not path.is_file():
        _write_once(path, secrets.token_bytes(KEY_BYTES))
    return _read_key(path)


@lru_cache(maxsize=8)
def _read_key(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise InputError(f"{path} has {len(key)} bytes, a key for pseudonyms has {KEY_BYTES}: restore or remove it")
    return key


def _write_once(path: Path, content: bytes) -> None:
    """Write a file that only the user may read, unless it is there: processes at work at once agree on the first."""
    if path.is_file():
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
        temporary.touch(mode=0o600)
        temporary.write_bytes(content)
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            temporary.replace(path)
        temporary.unlink(missing_ok=True)
    except OSError as error:
        where = f"set {FOLDER_VARIABLE} to a folder of yours, or say --keep-ids"
        raise InputError(f"{path} cannot be written ({error.strerror}): {where}") from None


def name_without(name: str, subject: str, hidden: str) -> str:
    """The name of a trial that may be called after the viewer's file, with the pseudonym in the viewer's place.

    >>> name_without("jane block 2", "jane", "v1"), name_without("cat.png", "jane", "v1")
    ('v1 block 2', 'cat.png')
    """
    return re.sub(rf"^{re.escape(subject)}(?= block \d+$|$)", hidden, name) if subject else name
