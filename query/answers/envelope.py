"""The envelope of every answer: result, total, truncation, completeness, provenance; and the records that results are made of.

Lines and columns are 1-based here, columns count UTF-16 code units, ends are exclusive: what editors show and what every tool takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

import msgspec

from query.answers.pages import Extent

R = TypeVar("R")


class Reason(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One reason why an answer may lack something. `code` is stable, `detail` a sentence, `paths` at most 20 of `count`."""

    code: str
    detail: str
    count: int = 0
    paths: list[str] = []


class Completeness(msgspec.Struct, kw_only=True):
    """`complete`: nothing that we know of is missing. `partial`: something is, see reasons. `unknown`: we cannot tell."""

    status: Literal["complete", "partial", "unknown"]
    reasons: list[Reason] = []


class Provenance(msgspec.Struct, kw_only=True):
    """Where the answer comes from. `commit` is empty outside git; `dirty` tells the work tree when it was indexed.

    `imported`: the facts were found elsewhere and came as an artifact; nobody here has crawled.
    `foreign`: this user has neither made nor imported the index, so nothing of the answer is to be believed; only where that is so.
    `elapsed_ms`: how long running servers took, their start included; only where some were asked.
    """

    source: Literal["index", "live"]
    servers: list[str]
    commit: str
    dirty: bool
    indexed_at: str
    generation: int
    imported: bool = False
    foreign: bool | msgspec.UnsetType = msgspec.UNSET
    elapsed_ms: int | msgspec.UnsetType = msgspec.UNSET


class SymbolRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol as every tool prints it; `symbol` can be given back to any tool. `path` is a portable key if `external`."""

    symbol: str
    name: str
    qualified_name: str
    kind: str
    path: str
    line: int = 0
    col: int = 0
    end_line: int = 0
    signature: str = ""
    container: str = ""
    external: bool = False
    exported: bool = False
    is_test: bool = False


class Place(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A range in a document; `text` is the source line: as it was indexed and `old` where the file has changed since, if git has that."""

    path: str
    line: int
    col: int
    end_col: int = 0
    text: str = ""
    old: bool = False


class Answer(msgspec.Struct, Generic[R], kw_only=True):
    """What a tool returns, for all callers.

    `query` repeats what was asked, with names resolved; `total` counts before `limit`; `next_cursor` continues.
    `quoted`: the fields whose texts are the repository's, or may be: data, never instructions. Absent where all words are our own.
    `applied`: of a tool that can write, whether it has written; others do not have it.
    `warnings`: what was wrong with asking now, though it was answered; says nothing about the result. Only where there are some.
    `beside`: what the result leaves out by its meaning, and who asked may have had in mind; says nothing about completeness. Only where
    there is some.
    `shortened`: this is a part, cut to the size that the caller set; `result_file` has all of it if it was over the tool's own limit.
    """

    tool: str
    query: dict[str, Any]
    result: R
    total: int
    truncated: bool
    completeness: Completeness
    provenance: Provenance
    next_cursor: str | None = None
    shortened: bool = False
    result_file: str = ""
    beside: list[str] | msgspec.UnsetType = msgspec.UNSET
    warnings: list[str] | msgspec.UnsetType = msgspec.UNSET
    applied: bool | msgspec.UnsetType = msgspec.UNSET
    quoted: list[str] | msgspec.UnsetType = msgspec.UNSET


def completeness_from(reasons: Sequence[Reason]) -> Completeness:
    """Partial where there are reasons, else complete."""
    return Completeness(status="partial" if reasons else "complete", reasons=list(reasons))


def unindexed(servers: Iterable[str] = (), elapsed_ms: int | msgspec.UnsetType = msgspec.UNSET) -> Provenance:
    """Where an answer comes from that no index gave: running servers, programs that were run, or the files themselves.

    Args:
        servers: name and version of those that were asked. elapsed_ms: as in `Provenance`.
    """
    return Provenance(source="live", servers=list(servers), commit="", dirty=False, indexed_at="", generation=0, elapsed_ms=elapsed_ms)


def enclose(query: Mapping[str, Any], result: R, extent: Extent, completeness: Completeness, provenance: Provenance) -> Answer[R]:
    """The one place that makes an answer; tools ask their `Context` or `Workspace` for it. `registry.call` writes the tool's name."""
    return Answer(
        tool="",
        query=dict(query),
        result=result,
        total=extent.total,
        truncated=extent.truncated,
        completeness=completeness,
        provenance=provenance,
        next_cursor=extent.next_cursor,
    )
