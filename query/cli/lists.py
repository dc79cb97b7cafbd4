"""Lists as other tools print theirs: a number, the files alone, each place with the lines around it; links and a pager at a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, get_type_hints

import click
import msgspec

from indexer.errors import UsageError
from query.answers.style import Style, printable

if TYPE_CHECKING:
    from pathlib import Path

    from query.answers.envelope import Answer
    from query.facts.index import Index
    from query.facts.sources import Sources
    from query.surface.registry import Tool

MOST_CONTEXT = 1_000
_ORDERS = ("place", "-place", "name", "-name")
_LINK = re.compile(r"(\x1b\[36m)([^\x1b\n]+?):(\d+)((?::\d+)?)(\x1b\[0m)")
"""A place as `Style.place` prints it."""


class At(NamedTuple):
    """A place of an answer; `line` is 1-based."""

    path: str
    line: int


def is_list(tool: Tool) -> bool:
    """Whether a tool's answer is a list, so that it can be counted."""
    return get_origin(tool.result) is list


def options(tool: Tool) -> list[click.Parameter]:
    found: list[click.Parameter] = [
        click.Option(
            ["--sort", "_sort"], type=click.Choice(_ORDERS), help="By the first place of each row, or by its name; - for backwards."
        ),
        click.Option(["-c", "--count", "_count"], is_flag=True, help="How many there are; the line on completeness goes to stderr."),
        click.Option(["-l", "--files", "_files"], is_flag=True, help="The files that they stand in, each once; likewise."),
        click.Option(["-C", "--context", "_context"], type=click.IntRange(0, MOST_CONTEXT), help="So many lines around each place."),
    ]
    taken = tool.parameters.__struct_fields__
    if "group_by" not in taken:
        groups = [name for name in _GROUPS if name != "kind" or _has_symbols(tool)]
        found.append(click.Option(["--group-by", "_group_by"], type=click.Choice(groups), help="How many there are of each; likewise."))
    if "kind" not in taken and _has_symbols(tool):
        found.append(click.Option(["--kind", "_kind"], multiple=True, help="Only rows about symbols of this kind; may be repeated."))
    if "path" not in taken:
        found.append(
            click.Option(
                ["--path", "_path"], metavar="GLOB", help="Only rows with a place in files that match this glob or lie below this folder."
            )
        )
    return found


def _has_symbols(tool: Tool) -> bool:
    """Whether each row of the answer is about a symbol, or is one."""
    from query.answers.envelope import SymbolRecord

    (row,) = get_args(tool.result)
    told = get_type_hints(row).get("symbol")
    is_one = issubclass(row, SymbolRecord) or {"kind", "symbol"} <= {*row.__struct_fields__}
    return is_one or told is SymbolRecord or SymbolRecord in get_args(told)


def shape_of(values: dict[str, Any], *, as_json: bool) -> Shape:
    """What the options say, which are taken out of `values`.

    Raises:
        UsageError: more than one of them, or one beside --json.
    """
    shape = Shape(
        values.pop("_count", False), values.pop("_files", False), values.pop("_context", None), values.pop("_group_by", None) or ""
    )
    if as_json + shape.is_count + shape.is_files + bool(shape.group_by) + (shape.context is not None) > 1:
        raise UsageError("--count, --files, --context, --group-by and --json exclude each other; --json has all rows with their places")
    return shape


class Order(NamedTuple):
    """In which order rows are printed, and which of them: as the tool gives them where nothing is said.

    sort: one of `--sort`. path: a glob, or a folder, that a place of a row must match. kinds: that a row's symbol must have one of.
    limit: rows that are printed; None for the tool's.
    """

    sort: str = ""
    path: str = ""
    kinds: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def is_said(self) -> bool:
        """Whether it takes all rows to know which are printed."""
        return bool(self.sort or self.path or self.kinds)

    def arranged(self, answer: Answer[Any], index: Index | None) -> Answer[Any]:
        """The rows that are wanted, in order: `total` counts those; what is behind the limit is said to be left out.

        Raises:
            NameNotFound: no document matches `path`. UsageError: no kind is called so.
        """
        from indexer.model import SymbolKind
        from query.facts.parameters import path_pattern
        from query.facts.symbols import kind_numbers

        kinds = {SymbolKind(kind).label for kind in kind_numbers(self.kinds)}
        glob = self.path if index is None else path_pattern(index, self.path)
        rows = [row for row in answer.result if not glob or any(_matches(place.path, glob) for place in places([row]))]
        if kinds:
            rows = [row for row in _flat(rows) if _kind_of(row).replace("_", " ") in kinds]
        if self.sort:
            rows.sort(key=_place_of if self.sort.endswith("place") else _name_of, reverse=self.sort.startswith("-"))
            groups = list(dict.fromkeys(_group_of(row) for row in answer.result))
            rows.sort(key=lambda row: groups.index(_group_of(row)))
        shown = rows if self.limit is None else rows[: self.limit]
        is_part = answer.truncated or len(shown) < len(rows)
        return msgspec.structs.replace(answer, result=shown, total=len(rows), truncated=is_part, next_cursor=None)


def _matches(path: str, glob: str) -> bool:
    return path.startswith(glob) or fnmatchcase(path, glob)


def _flat(rows: Iterable[Any]) -> Iterator[Any]:
    """The rows of an outline one below the other, without what is in them; of all others the rows themselves."""
    for row in rows:
        if children := getattr(row, "children", None):
            yield msgspec.structs.replace(row, children=[])
            yield from _flat(children)
        else:
            yield row


def _kind_of(row: Any) -> str:
    """Of what a row is about; empty where that is no symbol."""
    symbol = getattr(row, "symbol", None)
    return getattr(symbol if isinstance(symbol, msgspec.Struct) else row, "kind", "")


def _group_of(row: Any) -> tuple[str, str]:
    """Callers and callees, and those that are called in another way, each stand below a heading of their own."""
    return getattr(row, "direction", ""), getattr(row, "how", "")


def _place_of(row: Any) -> tuple[str, int]:
    found = places([row])
    return (found[0].path, found[0].line) if found else ("", 0)


def _name_of(row: Any) -> tuple[str, str, int]:
    """By what a row is about: its symbol, or the one around it."""
    built = msgspec.to_builtins(row)
    told = built.get("symbol") if isinstance(built.get("symbol"), dict) else built
    name = told.get("qualified_name") or told.get("enclosing") or told.get("name") or ""
    return (name, *_place_of(row))


def order_of(values: dict[str, Any]) -> Order:
    """What the options say, which are taken out of `values`."""
    return Order(values.pop("_sort", None) or "", values.pop("_path", None) or "", values.pop("_kind", ()), values.get("limit"))


class Shape(NamedTuple):
    """How a list is printed; as its tool does where nothing is said."""

    is_count: bool = False
    is_files: bool = False
    context: int | None = None
    group_by: str = ""

    @property
    def is_short(self) -> bool:
        """Whether stdout has what a program counts or goes on with, and nothing else."""
        return self.is_count or self.is_files or bool(self.group_by)

    @property
    def is_of_all(self) -> bool:
        """Whether it takes all rows, which no limit cuts."""
        return self.is_files or bool(self.group_by)

    def text(self, answer: Answer[Any], style: Style, index_if_any: Callable[[], Index | None]) -> str | None:
        """The answer in this shape; None where it is as the tool has it."""
        if self.is_count:
            return str(answer.total)
        if self.is_files:
            return "\n".join(files(answer.result))
        if self.group_by:
            return "\n".join(grouped(answer.result, self.group_by))
        if self.context is None or (index := index_if_any()) is None:
            return None
        from query.facts.sources import Sources
        from query.surface.render import summary

        return "\n".join([*in_context(answer.result, self.context, Sources(index), style), "", summary(answer, style)])


def places(result: Any) -> list[At]:
    """Every place that the rows of an answer name, in their order: of a caller its call sites, of a symbol without such its own."""
    return [place for row in msgspec.to_builtins(result) for place in _within(row)]


def _within(value: Any) -> list[At]:
    if isinstance(value, list):
        return [place for item in value for place in _within(item)]
    if not isinstance(value, dict):
        return []
    if sites := _within(value.get("sites")):
        return sites
    if isinstance(path := value.get("path"), str) and isinstance(line := value.get("line"), int):
        return [At(path, line)]
    return [place for item in value.values() for place in _within(item)]


def files(result: Any) -> list[str]:
    return list(dict.fromkeys(place.path for place in places(result)))


_GROUPS = ("file", "folder", "kind")


def grouped(result: Any, by: str) -> Iterator[str]:
    """A line for each group, the largest first, with the number of rows in it before it, as `uniq -c` has it; a row may be in several."""
    rows = list(_flat(result))
    if by == "kind":
        counts = Counter(_kind_of(row).replace("_", " ") or "?" for row in rows)
    else:
        counts = Counter(path for row in rows for path in dict.fromkeys(_part_of(place.path, by) for place in places([row])))
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:>7} {name}"


def _part_of(path: str, by: str) -> str:
    return path if by == "file" else path.rpartition("/")[0] or "."


def in_context(result: Any, around: int, sources: Sources, style: Style) -> Iterator[str]:
    """The lines around each place as grep prints them: `path:line:` of a place, `path-line-` beside it, `--` where lines are left out.

    Of a file that has changed since it was indexed these are the lines that were; it is named without lines where git does not have them.
    """
    by_file: dict[str, set[int]] = {}
    for place in places(result):
        by_file.setdefault(place.path, set()).add(place.line - 1)
    last: tuple[str, int] | None = None
    for path, meant in by_file.items():
        text = sources.lines(path)
        if text is None:
            text = sources.old_lines(path)
            said = "the file is not as it was indexed" if text is None else "the file has changed; as it was indexed:"
            yield from (
                f"{style.place(path, line + 1)}: {style.dim(said)}" for line in (sorted(meant) if text is None else sorted(meant)[:1])
            )
            last = None
            if text is None:
                continue
        total = len(text) - (not text[-1])  # behind the last line end there is no line
        near = {line + step for line in meant for step in range(-around, around + 1)}
        for line in sorted(line for line in near if 0 <= line < total):
            if last is not None and last != (path, line - 1):
                yield style.dim("--")
            last = path, line
            shown = printable(text[line].decode("utf-8", "replace").rstrip("\r"))
            yield f"{style.place(path, line + 1)}:{shown}" if line in meant else f"{style.dim(f'{path}-{line + 1}-')}{shown}"


# ---- at a terminal


def is_attended() -> bool:
    """Whether a person reads and answers: both ends are a terminal that knows more than lines."""
    return sys.stdout.isatty() and sys.stdin.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def linked(text: str, root: Path) -> str:
    """The text with each place that is a file of the workspace as a link to it, as terminals know them (OSC 8)."""

    def link(found: re.Match[str]) -> str:
        start, path, line, col, end = found.groups()
        target = root / path
        if not target.is_file():
            return found[0]
        return f"\x1b]8;;{target.as_uri()}#{line}\x1b\\{start}{path}:{line}{col}{end}\x1b]8;;\x1b\\"

    return _LINK.sub(link, text)
