"""JSON files that carry a digest of themselves, so that a reader knows whether they are what lspidx wrote.

The digest is the last value of the object, and stands for all bytes before it and for what kind of file it is, so that no file passes for
another: such a file is JSON for anybody who does not care.
A digest finds accidents, not malice: whoever changes a file on purpose can compute it anew.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Literal

from indexer import plain_files
from indexer.errors import Damaged

try:
    from _blake2 import blake2b  # hashlib takes 3 ms to import, which every question would pay
except ImportError:
    from hashlib import blake2b

Kind = Literal["manifest", "state", "flags", "skill", "journal", "unfinished"]

_SEAL = re.compile(rb'(?<=[,{])(?P<mark>"seal":")(?P<digest>[0-9a-f]{32})"}\n\Z')
_REMAINS = re.compile(rb'"seal"|[0-9a-f]{12}')
_LENGTH = 60
"""At most so many bytes from the end the seal begins."""


def sealed(content: bytes, kind: Kind) -> bytes:
    """A JSON object with its digest."""
    body = content.rstrip()
    if not (body.startswith(b"{") and body.endswith(b"}")):
        raise ValueError("only an object can be sealed")
    body = body[:-1].rstrip()
    body += b"" if body.endswith(b"{") else b","
    return body + b'"seal":"' + _digest(body, kind) + b'"}\n'


def is_sealed(content: bytes) -> bool:
    """Whether there is a seal, or what is left of one: files of earlier versions have none."""
    return _REMAINS.search(content, max(0, len(content) - _LENGTH)) is not None


def unsealed(content: bytes, file: Path, kind: Kind) -> bytes:
    """The object without its digest, which is what was written.

    Raises:
        Damaged: it is not.
    """
    found = _SEAL.search(content, max(0, len(content) - _LENGTH))
    if found is None:
        raise Damaged(file, "it is empty" if not content else "its end is not there, or it is another file")
    body = content[: found.start("mark")]
    if _digest(body, kind) != found["digest"]:
        raise Damaged(file, "its content is not what was written")
    return body.removesuffix(b",") + b"}"


def read(file: Path, kind: Kind) -> bytes:
    """The object in a file, which is what was written.

    Raises:
        Damaged: it is not, or cannot be read. FileNotFoundError: there is none.
    """
    content = plain_files.read(file)
    if content is None:
        if not os.path.lexists(file):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(file))
        raise Damaged(file, "it cannot be read")
    return unsealed(content, file, kind)


def digest_of(file: Path) -> str:
    """SHA-256 of a file's bytes. Raises what the disk says."""
    import hashlib

    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _digest(body: bytes, kind: Kind) -> bytes:
    return blake2b(body, digest_size=16, person=kind.encode()).hexdigest().encode()
