"""A server's diagnostic as answers have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from indexer.model import Severity

if TYPE_CHECKING:
    from indexer.lsp import decode

SeverityName = Literal["error", "warning", "information", "hint"]
SEVERITIES: Mapping[int, SeverityName] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "information",
    Severity.HINT: "hint",
}


class Diagnostic(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One message, 1-based, end exclusive. `number` is the severity as LSP counts: 1 error, 2 warning, 3 information, 4 hint."""

    path: str
    line: int
    col: int
    end_line: int
    end_col: int
    severity: SeverityName
    number: int
    message: str
    code: str = ""
    source: str = ""


def from_server(path: str, found: decode.Diagnostic) -> Diagnostic:
    """A message of a server, its first paragraph as an index keeps it; one without a severity that the protocol knows is an error."""
    start, end = found.range.start, found.range.end
    number = found.severity if found.severity in SEVERITIES else int(Severity.ERROR)
    return Diagnostic(
        path=path, line=start.line + 1, col=start.character + 1, end_line=end.line + 1, end_col=end.character + 1,
        severity=SEVERITIES[number], number=number, message=found.message.split("\n\n", 1)[0], code=str(found.code or ""),
        source=found.source or "",
    )  # fmt: skip
