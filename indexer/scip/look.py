"""What a file of SCIP says of itself, looked at by a process of its own: `python -I -m indexer.scip.look FILE`.

The file may be made to crash or to flood whoever reads it, so that is a process that may use so much memory and processor time and no
more; `look` starts it and believes a few short strings.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from indexer.scip.limits import TAKES_TOO_MUCH, limit_memory, limit_processor, printed_apart
from indexer.scip.reader import Refused

_MOST_BYTES = 1_000_000
_MOST_ENDINGS = 200
_MOST_ENDING = 40


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """name, version: of the indexer that made the file. endings: of its documents, as names of files (`x.go`, `Makefile`).

    digest: SHA-256 of the file. fault: why it is not read; then all else is empty.
    """

    name: str = ""
    version: str = ""
    endings: list[str] = []
    digest: str = ""
    fault: str = ""


def look(file: Path) -> Looked:
    """Raises Refused where it is no file of SCIP that can be read, with the reason."""
    try:
        found = msgspec.json.decode(printed_apart("indexer.scip.look", [str(file)])[:_MOST_BYTES], type=Looked)
    except msgspec.DecodeError as error:
        raise Refused(TAKES_TOO_MUCH) from error
    if found.fault:
        raise Refused(found.fault)
    return found


def _look(file: str) -> Looked:
    import hashlib

    from indexer.encoding import open_plain
    from indexer.scip.answers import shown
    from indexer.scip.reader import ScipFile, require_size

    try:
        with open_plain(file) as content:  # neither a pipe nor a device is waited for
            require_size(os.fstat(content.fileno()).st_size)
            digest = hashlib.file_digest(content, "sha256").hexdigest()  # pyright: ignore[reportArgumentType]
        read = ScipFile(Path(file))
        tool = read.metadata().tool_info
        endings: dict[str, None] = {}
        for part in read.documents():
            document = read.document(part)
            if document is not None:
                name = document.relative_path.rpartition("/")[2]
                stem, dot, ending = name.rpartition(".")
                endings[f"x.{ending}" if dot and stem else name] = None
        kept = [ending for ending in endings if len(ending) <= _MOST_ENDING and ending.isprintable()][:_MOST_ENDINGS]
        return Looked(name=shown(tool.name), version=shown(tool.version), endings=kept, digest=digest)
    except Refused as error:
        return Looked(fault=str(error))
    except OSError as error:
        return Looked(fault=f"it cannot be read: {error.strerror}")
    except MemoryError:
        return Looked(fault="it takes more memory than is allowed")


def main(file: str) -> None:
    """Prints what the file says, as JSON."""
    limit_memory()
    limit_processor()
    os.write(1, msgspec.json.encode(_look(file)))


if __name__ == "__main__":
    main(sys.argv[1])
