"""What following values found, as a table of rows, and the file that keeps it beside an index for the digest of what it depends on."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from indexer import plain_files
from indexer.store import proof
from indexer.store.flow.found.edges import Found

SCHEMA = pa.schema(
    {
        "what": pa.string(),  # call, meaning, gap, base, property or type
        "row": pa.int32(),
        "around": pa.int32(),
        "width": pa.int32(),
        "symbol": pa.int32(),
        "via": pa.uint8(),
        "is_possible": pa.bool_(),
        "reason": pa.string(),
        "is_mixed": pa.bool_(),
    }
)
"""`row`, `around`, `symbol`: numbers of `indexer.store.flow.text.inputs`, the latter two null for none."""

_PROOF_BYTES = 64


@dataclass(frozen=True, slots=True)
class Keeper:
    """Where the last result lies: a proof that this user made it for these inputs (`indexer.store.proof`), then the table as a stream.

    `recipe`: digest of the code that makes it.
    """

    path: Path
    recipe: str

    def read(self, digest: str) -> pa.Table | None:
        """What was found for these inputs; None if the file is about others, another's, damaged, or not there."""
        content = plain_files.read(self.path) or b""
        found, rows = content[:_PROOF_BYTES], content[_PROOF_BYTES:]
        if not found or not proof.is_sealed(found.decode("ascii", "replace"), "flow", digest.encode(), rows):
            return None
        with pa.ipc.open_stream(rows) as reader:
            return reader.read_all()

    def write(self, digest: str, table: pa.Table) -> None:
        """A file that cannot be written costs the next run its time and nothing else."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        rows = sink.getvalue().to_pybytes()
        found = proof.seal("flow", digest.encode(), rows)
        if found:
            with contextlib.suppress(OSError):
                plain_files.write_whole(self.path, found.encode() + rows)


def table_of(found: Found) -> pa.Table:
    """The rows of SCHEMA."""
    calls = [("call", *place, callee, int(via), is_possible, "", False) for place, callee, via, is_possible in found.calls]
    meanings = [("meaning", *place, symbol, 0, False, "", False) for place, symbol in found.meanings]
    gaps = [("gap", *place, None, 0, False, reason, False) for place, reason in found.gaps]
    bases = [("base", *place, symbol, 0, False, name, False) for place, symbol, name in found.bases]
    properties = [("property", *place, symbol, 0, False, names, False) for place, symbol, names in found.properties]
    types = [
        ("type", max(row, 0), symbol if row < 0 else None, 1, owner, int(is_each), is_possible, what, is_mixed)
        for row, symbol, what, owner, is_possible, is_each, is_mixed in found.types
    ]
    rows = [*calls, *meanings, *gaps, *bases, *properties, *types]
    return pa.table([pa.array([row[at] for row in rows], field.type) for at, field in enumerate(SCHEMA)], schema=SCHEMA)
