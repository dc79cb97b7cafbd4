"""Proofs that this user made something: a code over its content, which needs the user's secret (`indexer.user_state`): keyed BLAKE2b.

An index that came with a clone or an archive has none. A proof is bound to content and not to a place, so a folder that its user moves,
copies or restores keeps it. What is believed without looking at each file of it (a crawl that was cut off, the tree of an old commit)
has a mark instead, which is bound to the folder itself: a copy of that is made anew.

    {"proof":"<64 hex digits>",…       a JSON object with its proof: states, flags
    gen-<n>.proof                      of an index: see `prove`
    .made                              in a folder: see `mark`
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from indexer import plain_files, user_state
from indexer.errors import Damaged
from indexer.store import sealed as sealing

try:
    from _blake2 import blake2b  # hashlib loads all of OpenSSL, which takes longer than all else that a proof costs
except ImportError:  # the core module was renamed
    from hashlib import blake2b

_HEAD = b'{"proof":"'
_HEX = 64
_MARK = ".made"
_MOST_BYTES = 10_000


def seal(kind: str, *parts: bytes) -> str:
    """The proof of these bytes; empty where no secret of the user can be kept (`obstacle`)."""
    try:
        secret = user_state.secret(make=True)
    except OSError:
        return ""
    return _code(secret, kind, parts) if secret is not None else ""


def is_sealed(found: str, kind: str, *parts: bytes) -> bool:
    """Whether this user made `found` for these bytes."""
    secret = user_state.secret()
    return secret is not None and found == _code(secret, kind, parts)  # whoever has put it there is not told how long it took


def _code(secret: bytes, kind: str, parts: tuple[bytes, ...]) -> str:
    code = blake2b(key=secret, digest_size=_HEX // 2)
    for part in (f"lspidx {kind}".encode(), *parts):
        code.update(len(part).to_bytes(8, "big") + part)
    return code.hexdigest()


def obstacle(*, make: bool = False) -> str:
    """Why nothing can be proven here; empty where the user has a secret, or can have one.

    Args:
        make: makes the secret, which shows whether it can be.
    """
    folder = user_state.state_dir()
    try:
        if user_state.secret(make=make) is not None:
            return ""
    except OSError as error:
        return f"lspidx's state cannot be written to '{folder}' ({error.strerror}); to keep it elsewhere: LSPIDX_STATE_DIR"
    if not os.path.lexists(folder / "secret"):
        nearest = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
        may = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
        return "" if may else f"lspidx's state cannot be written to '{folder}'; to keep it elsewhere: LSPIDX_STATE_DIR"
    return f"'{folder / 'secret'}' is not a private file of yours; remove it, or keep lspidx's state elsewhere: LSPIDX_STATE_DIR"


# ---- JSON objects


def sealed(kind: str, content: bytes) -> bytes:
    """A JSON object with its proof as its first member; as it was, but for space at its end, where nothing can be proven."""
    content = content.strip()
    found = seal(kind, content)
    comma = b"" if content == b"{}" else b","
    return _HEAD + found.encode() + b'"' + comma + content[1:] if found else content


def opened(kind: str, content: bytes | None) -> bytes | None:
    """What `sealed` was given; None where this user has not made it."""
    end = len(_HEAD) + _HEX
    if content is None or not content.startswith(_HEAD) or content[end : end + 1] != b'"':
        return None
    rest = content[end + 1 :]
    inner = b"{" + (rest[1:] if rest.startswith(b",") else rest)
    inner = inner.rstrip()
    return inner if is_sealed(content[len(_HEAD) : end].decode("ascii", "replace"), kind, inner) else None


def written(kind: sealing.Kind, content: bytes) -> bytes:
    """A JSON object as it lies in a file of ours: with its proof, and around that with the digest by which damage is seen."""
    body = content.strip()
    return sealing.sealed(sealed(kind, body[:-1].rstrip() + b"}"), kind)


def read(kind: sealing.Kind, file: Path) -> bytes | None:
    """What `written` was given; None where this user has not made it, or nothing is there.

    Raises:
        Damaged: it is not what somebody wrote, or is no plain file.
    """
    try:
        content = sealing.read(file, kind)
    except FileNotFoundError:
        return None
    return opened(kind, content)


def is_strange(kind: sealing.Kind, file: Path) -> bool:
    """Whether a file of this kind is there and whole, and this user has not made it."""
    try:
        return os.path.lexists(file) and read(kind, file) is None
    except Damaged:
        return False


# ---- folders


def mark(folder: Path, kind: str) -> None:
    """Says of a folder, there and nowhere else, that this user made it and what is in it."""
    plain_files.write_whole(folder / _MARK, seal(kind, *_identity(folder)).encode())


def is_marked(folder: Path, kind: str) -> bool:
    found = plain_files.read(folder / _MARK, _HEX)
    try:
        return bool(found) and is_sealed(found.decode("ascii", "replace"), kind, *_identity(folder))
    except OSError:
        return False


def _identity(folder: Path) -> tuple[bytes, bytes]:
    return os.fsencode(folder.name), str(os.stat(folder, follow_symlinks=False).st_ino).encode()


# ---- indexes


def prove(database: Path) -> None:
    """Puts the proof beside a published index: over its name, its manifest and every byte of its database.

    A question must not read the whole database for that. So the proof also says what the system has written down of the file (place on
    the disk, size, times): nobody can change a file and leave its time of change as it was. Where that still fits, the content does.
    """
    manifest = plain_files.read(database.with_suffix(".json")) or b""
    _write(database, manifest, _digest(database))


CHANGED = "its database was changed since it was made"


def is_foreign(database: Path) -> bool:
    """Whether a published index is not this user's. One that this user made, and that was damaged since, is."""
    return unproven(database) not in ("", CHANGED)


def unproven(database: Path, *, full: bool = False) -> str:
    """Why a published index does not count as one that this user made or imported; empty where it does.

    Args:
        full: reads the database even where the system says that nobody has touched it.
    """
    proof = _proof_file(database)
    try:
        said = json.loads(plain_files.read(proof, _MOST_BYTES) or b"")
        found, digest, witness = str(said["proof"]), str(said["sha256"]), [int(number) for number in said["witness"]]
    except (ValueError, KeyError, TypeError):
        return obstacle() or "it was not made by this user"
    manifest = plain_files.read(database.with_suffix(".json")) or b""
    if not is_sealed(found, "index", *_parts(database, manifest, digest, witness)):
        return obstacle() or "it was not made by this user"
    if os.path.lexists(f"{database}.wal"):  # DuckDB would read it as a part of the database
        return f"'{database.name}.wal' lies beside it, which lspidx has not written"
    if not full and witness == _witness(database):
        return ""
    if witness[2] != _witness(database)[2] or _digest(database) != digest:
        return CHANGED
    if witness != _witness(database):  # copied, moved or restored: the next question need not read it
        try:
            _write(database, manifest, digest)
        except OSError:  # a checkout that cannot be written is read each time
            pass
    return ""


def _write(database: Path, manifest: bytes, digest: str) -> None:
    witness = _witness(database)
    found = seal("index", *_parts(database, manifest, digest, witness))
    if found:
        record = {"proof": found, "sha256": digest, "witness": witness}
        plain_files.write_whole(_proof_file(database), json.dumps(record).encode() + b"\n")


def _proof_file(database: Path) -> Path:
    return database.with_suffix(".proof")


def _parts(database: Path, manifest: bytes, digest: str, witness: list[int]) -> tuple[bytes, bytes, bytes, bytes]:
    return database.name.encode(), manifest, digest.encode(), str(witness).encode()


def _witness(database: Path) -> list[int]:
    found = os.stat(database, follow_symlinks=False)
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _digest(database: Path) -> str:
    import hashlib

    with database.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
