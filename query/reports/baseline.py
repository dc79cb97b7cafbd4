"""The file of accepted findings: one object per finding, sorted, so that a diff of it can be reviewed.

An entry counts only with a reason in words; without one it is a finding like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from indexer.encoding import open_plain
from indexer.errors import UsageError

VERSION = 1
_MAX_BYTES = 20_000_000


class Accepted(msgspec.Struct, kw_only=True, frozen=True):
    """A finding that may stay. `rule` and `symbol` are for those who read the file; `fingerprint` decides."""

    fingerprint: str
    rule: str
    symbol: str
    reason: str = ""


class Baseline(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    version: int
    accepted: list[Accepted]


def read(path: Path) -> list[Accepted]:
    """The entries of a baseline.

    Raises:
        UsageError: it cannot be read, or is not what `write` writes.
    """
    try:
        with open_plain(path) as opened:
            found = msgspec.json.decode(opened.read(_MAX_BYTES), type=Baseline)
    except OSError as error:
        raise UsageError(f"baseline '{path}' cannot be read: {error.strerror}; to make one: lspidx report --write-baseline FILE") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"'{path}' is not a baseline: {error}; to make one: lspidx report --write-baseline FILE") from error
    if found.version != VERSION:
        raise UsageError(f"baseline '{path}' has version {found.version}, this lspidx reads {VERSION}")
    return found.accepted


def render(findings: Iterable[Any], earlier: Iterable[Accepted]) -> str:
    """A baseline of these findings. Reasons are kept from the earlier one; who accepts a new finding writes its reason.

    Args:
        findings: `model.Finding`s.
    """
    reasons = {entry.fingerprint: entry.reason for entry in earlier}
    entries = [
        Accepted(fingerprint=item.fingerprint, rule=item.rule, symbol=item.symbol.qualified_name, reason=reasons.get(item.fingerprint, ""))
        for item in findings
    ]
    entries.sort(key=lambda entry: (entry.symbol, entry.rule, entry.fingerprint))
    content = msgspec.json.encode(Baseline(version=VERSION, accepted=entries))
    return msgspec.json.format(content, indent=2).decode() + "\n"
