"""JSON files that carry a digest of themselves, so that a reader knows whether they are what lspidx wrote.

The digest is the last value of the object, and stands for all bytes before it: such a file is JSON for anybody who does not care.
A digest finds accidents, not malice: whoever changes a file on purpose can compute it anew.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from indexer.errors import Damaged

_DIGEST_CHARACTERS = 32
_SEAL = re.compile(rb'(?<=[,{])(?P<mark>"seal":")(?P<digest>[0-9a-f]{32})"}\n\Z')
_LENGTH = 60
"""At most so many bytes from the end the seal begins."""


def sealed(content: bytes) -> bytes:
    """A JSON object with its digest."""
    body = content.rstrip()
    if not (body.startswith(b"{") and body.endswith(b"}")):
        raise ValueError("only an object can be sealed")
    body = body[:-1].rstrip()
    body += b"" if body.endswith(b"{") else b","
    return body + b'"seal":"' + _digest(body) + b'"}\n'


def is_sealed(content: bytes) -> bool:
    """Whether there is a seal, right or wrong: files of earlier versions have none."""
    return _SEAL.search(content, max(0, len(content) - _LENGTH)) is not None


def unsealed(content: bytes, file: Path) -> bytes:
    """The object without its digest, which is what was written.

    Raises:
        Damaged: it is not.
    """
    found = _SEAL.search(content, max(0, len(content) - _LENGTH))
    if found is None:
        raise Damaged(file, "it is empty" if not content else "its end is not there, or it is another file")
    body = content[: found.start("mark")]
    if _digest(body) != found["digest"]:
        raise Damaged(file, "its content is not what was written")
    return body.removesuffix(b",") + b"}"


def read(file: Path) -> bytes:
    """The object in a file, which is what was written.

    Raises:
        Damaged: it is not, or cannot be read. FileNotFoundError: there is none.
    """
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Damaged(file, f"it cannot be read: {error.strerror}") from error
    return unsealed(content, file)


def digest_of(file: Path) -> str:
    """SHA-256 of a file's bytes. Raises what the disk says."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:_DIGEST_CHARACTERS].encode()
