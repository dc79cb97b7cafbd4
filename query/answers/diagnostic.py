"""A server's diagnostic as answers have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

Severity = Literal["error", "warning", "information", "hint"]
SEVERITIES: Mapping[int, Severity] = {1: "error", 2: "warning", 3: "information", 4: "hint"}


class Diagnostic(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One message, 1-based, end exclusive. `number` is the severity as LSP counts: 1 error, 2 warning, 3 information, 4 hint."""

    path: str
    line: int
    col: int
    end_line: int
    end_col: int
    severity: Severity
    number: int
    message: str
    code: str = ""
    source: str = ""


def read(path: str, item: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """One message of a server, its first paragraph as an index keeps it; nothing where it is no such thing."""
    from indexer.lsp import decode

    try:
        found = msgspec.convert(item, decode.Diagnostic)
    except msgspec.ValidationError:
        return
    start, end = found.range.start, found.range.end
    number = found.severity if found.severity in SEVERITIES else 1
    yield Diagnostic(
        path=path, line=start.line + 1, col=start.character + 1, end_line=end.line + 1, end_col=end.character + 1,
        severity=SEVERITIES[number], number=number, message=found.message.split("\n\n", 1)[0], code=str(found.code or ""),
        source=found.source or "",
    )  # fmt: skip
