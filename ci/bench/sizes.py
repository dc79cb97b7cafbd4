"""How long answers are: ten questions on django, lspidx's answer beside the raw JSON with which a language server answers them.

The server is ty, the one that lspidx crawls with; it is asked live, at the places where the symbols are defined. A question that no
single request answers is put as the requests that an agent would need, and their results are summed. Counted are characters of
results: of lspidx's JSON the whole envelope, of the server's JSON `result` alone, without the frames around it.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from ci.bench.corpora import Bench, Corpus
from indexer.drive.client import Client
from indexer.lsp.protocol import initialize_params
from indexer.lsp.session import Answer
from indexer.store.generations import FOLDER
from query import open_index
from query.answers.style import Style
from query.facts.index import Index
from query.mcp.options import BUDGET
from query.surface.budget import shorten, to_json
from query.surface.registry import call, load
from query.surface.render import to_text

_TIMEOUT_S = 120
_MOST = 1_000  # rows of a whole answer: the highest limit of every tool asked here
_WITH_IMPORTS = {"context": {"includeDeclaration": True}}
"""Without the declaration ty leaves imports out too, which are references."""
_CALLABLE = (5, 6, 9, 12)  # LSP's numbers: class, method, constructor, function


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Characters by form. `told` of `total` rows are in the compact text within the budget; `raw_rows` are the server's."""

    question: str
    compact: int
    compact_whole: int
    json_whole: int
    raw: int
    requests: int
    told: int
    total: int
    raw_rows: int


@dataclass(frozen=True, slots=True)
class Question:
    """`raw` puts the same question to a server and adds up what it says."""

    title: str
    tool: str
    arguments: Mapping[str, Any]
    raw: Callable[[Raw, Index], Any]


class Raw:
    """A live ty, and how much it has said since `reset`."""

    def __init__(self, bench: Bench, root: Path, inside: str) -> None:
        """`root` is what it opens; the paths of questions are relative to `root / inside`."""
        self._folder = (root / inside).resolve()
        self._opened: set[str] = set()
        self._client = Client(
            [str(Path(sys.executable).parent / "ty"), "server"],
            cwd=root,
            environment={"VIRTUAL_ENV": str(bench.environment.absolute())},
            initialize_params=initialize_params([root.resolve()], None),
            settings={},
            timeout_s=_TIMEOUT_S,
        )
        self.reset()

    def reset(self) -> None:
        self.characters = self.requests = self.rows = 0

    def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """The decoded result of one request, counted; None where the server refuses.

        Raises:
            ServerError: it crashed or is silent.
        """
        number = self._client.session.request(method.encode(), json.dumps(params).encode())
        while True:
            for event in self._client.wait():
                if isinstance(event, Answer) and event.id == number:
                    text = bytes(event.result).decode()
                    found = json.loads(text) if text and event.error is None else None
                    self.requests += 1
                    self.characters += len(text)
                    self.rows += len(found) if isinstance(found, list) else found is not None
                    return found

    def document(self, path: str) -> dict[str, str]:
        """The identifier of a file, opened."""
        uri = (self._folder / path).as_uri()
        if uri not in self._opened:
            self._opened.add(uri)
            opened = {"uri": uri, "languageId": "python", "version": 1, "text": (self._folder / path).read_text(encoding="utf-8")}
            self._client.session.notify(b"textDocument/didOpen", json.dumps({"textDocument": opened}).encode())
        return {"uri": uri}

    def at(self, path: str, line: int, col: int) -> dict[str, Any]:
        return {"textDocument": self.document(path), "position": {"line": line, "character": col}}

    def read(self, path: str, start_line: int, end_line: int) -> None:
        """Counts lines of a file, 0-based, the last one included."""
        lines = (self._folder / path).read_text(encoding="utf-8").split("\n")
        self.characters += len("\n".join(lines[start_line : end_line + 1]))
        self.requests += 1

    def close(self) -> None:
        self._client.close()


def questions() -> list[Question]:
    query_set, field = "django.db.models.query.QuerySet", "django.db.models.fields.Field"
    callers, base, file = "django.urls.base.reverse", "django.core.exceptions.ImproperlyConfigured", "forms/formsets.py"
    return [
        Question("symbols named get_object…", "find_symbol", {"query": "get_object", "match": "prefix"}, _workspace_symbol("get_object")),
        Question(f"outline of {file}", "list_symbols", {"file_path": file}, lambda raw, _: _outline(raw, file)),
        Question(
            "definition of QuerySet.filter", "go_to_definition", {"symbol": f"{query_set}.filter"}, _at(f"{query_set}.filter", "definition")
        ),
        Question(
            "hover of QuerySet.get_or_create",
            "inspect_symbol",
            {"symbol": f"{query_set}.get_or_create"},
            _at(f"{query_set}.get_or_create", "hover"),
        ),
        Question("references to ImproperlyConfigured", "find_references", {"symbol": base}, _at(base, "references")),
        Question("callers of reverse", "find_callers", {"symbol": callers, "direction": "incoming"}, _calls(callers)),
        Question("types above and below Field", "type_hierarchy", {"symbol": field}, _types(field)),
        Question(
            "explore QuerySet.get_or_create",
            "explore_symbol",
            {"symbol": f"{query_set}.get_or_create"},
            _explore(f"{query_set}.get_or_create"),
        ),
        Question(f"editing context of {file}", "get_editing_context", {"file_path": file}, lambda raw, _: _editing(raw, file)),
        Question(
            "blast radius of db/models/query.py",
            "blast_radius",
            {"changed_files": ["db/models/query.py"]},
            lambda raw, _: _radius(raw, "db/models/query.py"),
        ),
    ]


def measure(bench: Bench, corpus: Corpus) -> list[dict[str, Any]]:
    """All questions on `corpus`, which is django's package folder.

    Raises:
        ServerError: ty crashed or is silent. UsageError and others: a question does not fit the index.
    """
    raw = Raw(bench, alone(bench, corpus), corpus.root.name)
    try:
        with open_index(corpus.root) as index:
            return [asdict(_row(index, raw, question)) for question in questions()]
    finally:
        raw.close()


def alone(bench: Bench, corpus: Corpus) -> Path:
    """A folder with nothing but a copy of the corpus's own folder in it: a server that opens it sees the same files as lspidx, and
    imports of the package start there.
    """
    folder = bench.folder / "peers" / f"{corpus.root.parent.name}-{corpus.root.name}"
    if not (folder / corpus.root.name).is_dir():
        partial = folder.with_name(f"{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(corpus.root, partial / corpus.root.name, ignore=shutil.ignore_patterns(FOLDER, "*.js"))
        partial.rename(folder)
    return folder


def _row(index: Index, raw: Raw, question: Question) -> Row:
    tool, _ = load(question.tool)
    answer = call(index, question.tool, question.arguments)
    most = {"limit": _MOST} if "limit" in tool.parameters.__struct_fields__ else {}
    whole = call(index, question.tool, {**question.arguments, **most})
    style = Style(compact=True)

    def compact(one: Any) -> str:
        return to_text(one, style)

    part = shorten(answer, tool.result, BUDGET, compact)
    raw.reset()
    question.raw(raw, index)
    return Row(
        question=question.title,
        compact=len(compact(part)),
        compact_whole=len(compact(whole)),
        json_whole=len(to_json(whole)),
        raw=raw.characters,
        requests=raw.requests,
        told=rows(msgspec.to_builtins(part.result)),
        total=rows(msgspec.to_builtins(whole.result)),
        raw_rows=raw.rows,
    )


def rows(value: Any) -> int:
    """Records in a result: elements of lists that are records themselves, at any depth; at least one."""

    def count(part: Any) -> int:
        if isinstance(part, dict):
            return sum(count(item) for item in part.values())
        if isinstance(part, list):
            return sum(isinstance(item, dict) + count(item) for item in part)
        return 0

    return max(1, count(value))


# ---- the same questions as requests


def place_of(index: Index, name: str) -> tuple[str, int, int]:
    """Path, line and column of a name, 0-based.

    Raises:
        LookupError: the index does not have it.
    """
    sql = "SELECT d.path, s.sel_line, s.sel_col FROM symbol s JOIN document d USING (doc_id) WHERE s.qualified_name = ? ORDER BY s.sym_id"
    found = index.row(sql, [name])
    if found is None:
        raise LookupError(f"'{name}' is not in the index")
    return found[0], found[1], found[2]


def _workspace_symbol(name: str) -> Callable[[Raw, Index], None]:
    return lambda raw, index: raw.ask("workspace/symbol", {"query": name})


def _at(name: str, method: str) -> Callable[[Raw, Index], None]:
    more = _WITH_IMPORTS if method == "references" else {}
    return lambda raw, index: raw.ask(f"textDocument/{method}", {**raw.at(*place_of(index, name)), **more})


def _calls(name: str) -> Callable[[Raw, Index], None]:
    return lambda raw, index: _incoming(raw, raw.at(*place_of(index, name)))


def _incoming(raw: Raw, place: Mapping[str, Any], *, outgoing: bool = False) -> None:
    for item in raw.ask("textDocument/prepareCallHierarchy", place) or ():
        raw.ask("callHierarchy/incomingCalls", {"item": item})
        if outgoing:
            raw.ask("callHierarchy/outgoingCalls", {"item": item})


def _types(name: str) -> Callable[[Raw, Index], None]:
    """To the ends in both directions, each type asked once."""

    def ask(raw: Raw, index: Index) -> None:
        start = raw.ask("textDocument/prepareTypeHierarchy", raw.at(*place_of(index, name))) or []
        for direction in ("supertypes", "subtypes"):
            todo, seen = list(start), set[str]()
            while todo:
                item = todo.pop()
                key = json.dumps([item["uri"], item["selectionRange"]])
                if key not in seen:
                    seen.add(key)
                    todo += raw.ask(f"typeHierarchy/{direction}", {"item": item}) or []

    return ask


def _explore(name: str) -> Callable[[Raw, Index], None]:
    """The definition's own lines, which a client reads from the file, count as one more request."""

    def ask(raw: Raw, index: Index) -> None:
        for method in ("hover", "references"):
            _at(name, method)(raw, index)
        _incoming(raw, raw.at(*place_of(index, name)))
        found = index.row("SELECT start_line, end_line FROM symbol WHERE qualified_name = ? ORDER BY sym_id", [name]) or (0, 0)
        raw.read(place_of(index, name)[0], found[0], found[1])

    return ask


def _outline(raw: Raw, path: str) -> list[Any]:
    return raw.ask("textDocument/documentSymbol", {"textDocument": raw.document(path)}) or []


def _definitions(symbols: list[Any]) -> Iterator[Any]:
    """What can be called, with the members of classes, without what functions define for themselves."""
    for symbol in symbols:
        if symbol["kind"] in _CALLABLE:
            yield symbol
        if symbol["kind"] == _CALLABLE[0]:
            yield from _definitions(symbol.get("children") or [])


def _editing(raw: Raw, path: str) -> None:
    for symbol in _definitions(_outline(raw, path)):
        start = symbol["selectionRange"]["start"]
        place = raw.at(path, start["line"], start["character"])
        raw.ask("textDocument/hover", place)
        _incoming(raw, place, outgoing=True)


def _radius(raw: Raw, path: str) -> None:
    """One step: who refers to the file's definitions. Going on from there would take as many requests again for each of them."""
    for symbol in _definitions(_outline(raw, path)):
        start = symbol["selectionRange"]["start"]
        raw.ask("textDocument/references", {**raw.at(path, start["line"], start["character"]), **_WITH_IMPORTS})
