"""The one declaration of the surface: a tool is a function under `@tool`, with a parameters record and an answer record.

The command line, the JSON schema and the reference are derived from the declaration. A tool's module is loaded when it is asked
for: a tool is the module of its name, `ALIASES` has the short names.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack

import msgspec

from indexer.errors import AmbiguousName, EditsOff, NameNotFound, NoIndex, UsageError
from indexer.store.generations import remedy
from indexer.vcs import find_root
from query.answers.envelope import Answer, Reason
from query.answers.pages import Cursor, parsed
from query.answers.style import Style
from query.context import Context, Progress, Servers, Workspace, silent
from query.facts.completeness import Certificate, distrusted, of_older_tree, unfinished
from query.facts.gaps.hints import told_once
from query.facts.index import Index
from query.facts.served import Served
from query.live.servers import servers_of
from query.skills.session import OF_PROCESS, Phases

MAX_RESULT_CHARS = 100_000

QUOTED = ("query", "result", "completeness")
"""Fields of an answer whose texts come from the repository, from its history, or from servers that have read it."""

ALIASES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "symbols": ("find_symbol", {}),
    "outline": ("list_symbols", {}),
    "definition": ("go_to_definition", {}),
    "references": ("find_references", {}),
    "callers": ("find_callers", {"direction": "incoming"}),
    "callees": ("find_callers", {"direction": "outgoing"}),
    "hierarchy": ("type_hierarchy", {}),
    "source": ("get_symbol_source", {}),
    "explore": ("explore_symbol", {}),
    "hover": ("inspect_symbol", {}),
    "map": ("repository_map", {}),
    "flow": ("call_flow", {}),
    "cross_repo": ("get_cross_repo_references", {}),
    "detect": ("detect_lsp_servers", {}),
    "changes": ("detect_changes", {}),
    "tests_for": ("get_tests_for_file", {}),
    "safe_edit": ("safe_apply_edit", {}),
}
"""Short names and what they preset; here, so that a question loads its own tool only (a test holds them against the tools)."""


CURSOR = "next_cursor of the previous answer"

Task = Literal["find", "read", "impact", "tests", "quality", "live", "edit", "try", "run", "skills", "index"]

TASKS: Mapping[Task, str] = {
    "find": "Find a symbol",
    "read": "Read about a symbol or a file",
    "impact": "See what depends on it",
    "tests": "Find its tests",
    "quality": "Find what is unused or untested",
    "live": "Ask a running language server",
    "edit": "Change code, safely",
    "try": "Try edits in memory",
    "run": "Build and test",
    "skills": "Keep to the phases of a piece of work",
    "index": "Know the index, the workspace and the tools",
}
"""What people come for, in the order of the list of tools."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A declared tool: everything that the command line, MCP, the schemas, the reference and the Python functions are made of.

    name: canonical. aliases: short names with the parameters that they preset. positional: the parameter given without a flag.
    parameters, result: record types; parameters are validated before `run` sees them. example: arguments of a command line that works.
    run: takes context and parameters. text: lines for people (and, with a compact style, for agents); same content as the result.
    counted: how many there are of what, for the last line of the text: the number alone if nothing is said.
    part: what it says of an answer that goes on, where that is not one list's first part.
    done: of a tool that edits, what the last line says in place of how many were found.
    task: where it stands in the list of tools. hint: further words under which one may look for it.
    bare: it answers without any argument too, about everything.
    seldom: names of parameters that few questions need: agents are shown them only where they look the tool up.
    needs: names of parameters without which a call is refused; the positional ones by default, of a tool that is not `bare`.
    needs_index: `run` gets a Context, else a Workspace. unavailable: why this index cannot answer; empty where it can.
    live: answers by running servers, from a Workspace: on request (parameter `live`), and where there is no index.
    by_text: answers by the files' own text, from a Workspace, while the first index is made.
    writes: whether a call with these parameters changes files; one that can has `apply`, and shows without it. Refused where edits are
        not allowed, as is what `runs` the repository's own code.
    catches_up: what it writes rests on the index, which is brought up to date first where the work tree has moved on.
    own_words: nothing in its answers comes from the repository, so an agent may do as they say.
    max_result_chars: an answer whose JSON is longer goes to a file, and the caller gets its path and the beginning.
    """

    name: str
    aliases: Mapping[str, Mapping[str, Any]]
    description: str
    parameters: type[msgspec.Struct]
    result: Any
    positional: str
    example: str
    run: Callable[[Any, Any], Answer[Any]]
    text: Callable[[Answer[Any], Style], Iterator[str]]
    task: Task
    hint: str
    counted: Callable[[Answer[Any]], str] = lambda answer: f"{answer.total}"
    part: Callable[[Answer[Any]], str] | None = None
    done: Callable[[Answer[Any]], str] | None = None
    needs_index: bool = True
    bare: bool = False
    seldom: str = ""
    needs: str | None = None
    read_only: bool = True
    concurrency_safe: bool = True
    destructive: bool = False
    live: Callable[[Workspace, Any], Answer[Any]] | None = None
    by_text: Callable[[Workspace, Any], Answer[Any]] | None = None
    writes: Callable[[Any], bool] = lambda ask: False
    runs: bool = False
    catches_up: bool = False
    own_words: bool = False
    unavailable: Callable[[Index], str] = lambda index: ""
    max_result_chars: int = MAX_RESULT_CHARS

    @property
    def applies(self) -> bool:
        """Whether it can write, which it does with the parameter `apply` only."""
        return "apply" in self.parameters.__struct_fields__

    @property
    def pages(self) -> bool:
        """Whether the tool itself takes a cursor."""
        return "cursor" in self.parameters.__struct_fields__

    @property
    def required(self) -> list[str]:
        """Names of parameters that no call does without. A symbol may be named by a place in a file instead, by further parameters."""
        named = self.needs if self.needs is not None else "" if self.bare else self.positional
        return named.split()

    @property
    def continues(self) -> bool:
        """Whether an answer that was cut goes on where it was: by asking again, which is for those alone that only look."""
        return self.read_only and not self.runs and not self.own_words

    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the parameters, and of the cursor with which any answer goes on that was cut."""
        schema = _inlined(msgspec.json.schema(self.parameters))
        if self.continues and not self.pages:
            schema["properties"] = {**schema.get("properties", {}), "cursor": {"type": "string", "description": CURSOR, "default": ""}}
        return schema

    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the whole answer, `result` in its envelope."""
        return _inlined(msgspec.json.schema(Answer[self.result]))


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """With the record itself at the top, as readers of a schema of parameters expect it; other records stay in `$defs`."""
    reference = schema.pop("$ref", "")
    definitions = schema.get("$defs", {})
    top = definitions.pop(reference.rpartition("/")[2], {}) if reference else {}
    if not definitions:
        schema.pop("$defs", None)
    return {**top, **schema}


P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R")


def tool(name: str, **declaration: Unpack[_Declaration]) -> Callable[[Callable[[Context, P], Answer[R]]], Tool]:
    """Declares a tool; the first line of the function's docstring is its description everywhere."""
    return lambda run: _declare(name, run, declaration, needs_index=True)


def workspace_tool(name: str, **declaration: Unpack[_Declaration]) -> Callable[[Callable[[Workspace, P], Answer[R]]], Tool]:
    """As `tool`, for a question about files and machine that is answered without an index."""
    return lambda run: _declare(name, run, declaration, needs_index=False)


class _Required(TypedDict):
    parameters: type[msgspec.Struct]
    result: Any
    positional: str
    example: str
    text: Callable[[Answer[Any], Style], Iterator[str]]
    task: Task
    hint: str


class _Declaration(_Required, total=False):
    counted: Callable[[Answer[Any]], str]
    part: Callable[[Answer[Any]], str]
    done: Callable[[Answer[Any]], str]
    bare: bool
    seldom: str
    needs: str
    read_only: bool
    concurrency_safe: bool
    destructive: bool
    live: Callable[[Workspace, Any], Answer[Any]]
    by_text: Callable[[Workspace, Any], Answer[Any]]
    writes: Callable[[Any], bool]
    runs: bool
    catches_up: bool
    own_words: bool
    unavailable: Callable[[Index], str]
    max_result_chars: int


def _declare(name: str, run: Callable[[Any, Any], Answer[Any]], declaration: _Declaration, *, needs_index: bool) -> Tool:
    aliases = {alias: preset for alias, (canonical, preset) in ALIASES.items() if canonical == name}
    description = (run.__doc__ or "").strip().split("\n", 1)[0]
    return Tool(name=name, aliases=aliases, description=description, run=run, needs_index=needs_index, **declaration)


def names() -> list[str]:
    """Canonical names of all tools, in order, without loading any."""
    return [*_modules()]


@functools.cache
def _modules() -> tuple[str, ...]:
    """Each question asks which tools there are: the folder is looked through once."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent.with_name("tools"))])))


def load(name: str) -> tuple[Tool, dict[str, Any]]:
    """A tool by canonical name or alias, with the parameters that the alias presets.

    Raises:
        UsageError: no tool has this name.
    """
    canonical, preset = ALIASES.get(name, (name, {}))
    if canonical not in _modules():
        raise UsageError(f"no tool is called '{name}'; known: {', '.join(names())}; short: {', '.join(ALIASES)}")
    return importlib.import_module(f"query.tools.{canonical}").TOOL, dict(preset)


def _choices(tool: Tool, problem: str) -> str:
    """What a parameter takes that takes few values, where another one was given."""
    match = re.search(r"Invalid enum value .* at `\$\.(\w+)", problem)
    values = tool.input_schema()["properties"].get(match[1], {}).get("enum", ()) if match else ()
    return f"; it takes: {', '.join(map(str, values))}" if values else ""


def call(
    index: Index | None,
    name: str,
    arguments: Mapping[str, Any],
    *,
    servers: Servers | None = None,
    progress: Progress = silent,
    root: Path | None = None,
    edits: bool = True,
    served: Served | None = None,
    phases: Phases | None = None,
    lacking: Reason | None = None,
    certificate: Callable[[Index], Certificate] = Certificate,
) -> Answer[Any]:
    """Answers one question.

    Args:
        index: None for a tool that needs none.
        servers: None for those that are started here and end when the question is answered.
        edits: whether files may be changed and the repository's code be run.
        served: what may be named; None for everything, where the user asks.
        phases: of the session that asks; None for this process. Here is where they are enforced, for all who ask.
        name: canonical or alias. arguments: by parameter name; validated before the tool sees them.
        progress: told how far a long answer is: done, total, what.
        root: where a tool that needs no index starts from; the index's root, else the current folder, by default.
        lacking: why no answer can be complete now, whatever the tool knows; None where nothing of the kind is so.
        certificate: makes what says how complete the answer is.
    Raises:
        UsageError: no such tool, or arguments that do not fit. EditsOff: it would change files. PhaseViolation: not in this phase.
            NotServed: a place that may not be named. Whatever the tool raises.
    """
    declared, preset = load(name)
    home = root or (index.root if index else Path.cwd())
    if served is not None:
        arguments = served.checked(index.root if index else find_root(home), index, declared.name, arguments)
    _require_unicode(name, arguments)
    arguments = _of_others(declared, arguments)
    cursor = _cursor(declared, arguments)
    own = {key: value for key, value in arguments.items() if key != "cursor"} | ({"cursor": cursor.own} if cursor.own else {})
    parameters = _parameters(declared, name, preset, own)
    writes = declared.writes(parameters)
    if (writes or declared.runs) and not edits:
        raise _edits_off(name, writes=writes)
    session = phases if phases is not None else OF_PROCESS
    ticket = session.begin(declared.name, writes=writes)
    asked = servers if servers is not None else servers_of(index.root if index else find_root(home))
    is_indexing = index is None and lacking is not None
    workspace = Workspace(root=home, index=index, servers=asked, is_indexing=is_indexing, progress=progress, phases=session)
    try:
        with _names_of_now(index, declared):
            if (run := _without_index(declared, workspace, parameters)) is not None:
                answer = run(workspace, parameters)
            else:
                known = _usable(index, declared, name, home)
                context = Context(index=known, certificate=certificate(known), servers=asked, progress=progress, served=served)
                answer = declared.run(context, parameters)
    finally:
        if servers is None:
            asked.close()
    session.finish(ticket)
    if index is not None and index.foreign:
        answer = distrusted(answer, index, whole=declared.needs_index)
    if index is not None and len(answer.completeness.reasons) > 1:
        answer = told_once(answer, index)
    if lacking is not None and not declared.own_words:
        answer = unfinished(answer, lacking)
    return msgspec.structs.replace(
        answer,
        tool=declared.name,
        query={**answer.query, "cursor": str(cursor)} if cursor.row else answer.query,
        warnings=ticket.warnings or msgspec.UNSET,
        applied=_applied(answer.result) if declared.applies else msgspec.UNSET,
        quoted=msgspec.UNSET if declared.own_words else [*QUOTED, *(["beside"] if answer.beside else [])],
    )


def _parameters(declared: Tool, name: str, preset: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """Args: name: by which it was called, which presets some.

    Raises:
        UsageError: what is given does not fit.
    """
    try:
        return msgspec.convert({**preset, **given}, declared.parameters)
    except msgspec.ValidationError as error:
        fields = [field for field in declared.parameters.__struct_fields__ if field not in preset]
        known = f"; it takes: {', '.join(fields)}" if "unknown field" in str(error) else _choices(declared, str(error))
        raise UsageError(f"{name}: {error}{known}") from error


def _without_index(declared: Tool, workspace: Workspace, parameters: Any) -> Callable[[Workspace, Any], Answer[Any]] | None:
    """What answers without an index: a tool that needs none, a server that runs, or the text alone while the first index is made."""
    if not declared.needs_index:
        return declared.run if declared.live is None else declared.live
    if declared.live is not None and _wants_live(workspace.index, parameters):
        return declared.live
    return declared.by_text if workspace.is_indexing else None


def _of_others(declared: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments without what other products' tools of the name take besides, and say what ours say otherwise or know by themselves.

    A file's language is known, `character` is `column`, and without `apply` everything is a dry run. Anything else stays, and is refused.
    """
    fields = declared.parameters.__struct_fields__
    kept = dict(arguments)
    if "file_path" in fields and "language_id" not in fields and isinstance(kept.get("language_id"), str):
        del kept["language_id"]
    if "column" in fields and "column" not in kept and "character" in kept and "character" not in fields:
        kept["column"] = kept.pop("character")
    if (
        "apply" in fields
        and "dry_run" not in fields
        and isinstance(kept.get("dry_run"), bool)
        and not (kept["dry_run"] and kept.get("apply"))
    ):
        del kept["dry_run"]
    return kept


def _usable(index: Index | None, declared: Tool, name: str, home: Path) -> Index:
    """Raises NoIndex where there is none, UsageError where it has nothing for this tool."""
    if index is None:
        raise NoIndex(f"{name} needs an index; {remedy(home)}")
    if why := declared.unavailable(index):
        raise UsageError(f"{name}: {why}")
    return index


@contextlib.contextmanager
def _names_of_now(index: Index | None, declared: Tool) -> Generator[None]:
    """A name that is not found, or that several symbols have, may be another one in files that have changed since: the error says so."""
    try:
        yield
    except (NameNotFound, AmbiguousName) as error:
        rests_on_index = declared.needs_index or declared.live is not None
        if index is not None and rests_on_index and (told := of_older_tree(error, index)) is not None:
            raise told from error
        raise


def _cursor(declared: Tool, arguments: Mapping[str, Any]) -> Cursor:
    """Of a question: what of it is the tool's own, and with which row of its answer to go on. A tool without an own one has the row alone.

    Raises:
        UsageError: no answer gave it out, or not one of this tool.
    """
    given = arguments.get("cursor", "")
    if not isinstance(given, str):
        raise UsageError(f"{declared.name}: a cursor is a string: next_cursor of the previous answer")
    cursor = parsed(given) if declared.continues else Cursor(given, 0)
    if cursor.own and not declared.pages:
        raise UsageError(f"{declared.name}: '{given}' is no cursor; take next_cursor of the previous answer")
    return cursor


def _applied(result: Any) -> bool:
    """Whether a tool that can write has written, as its record says."""
    told = getattr(result, "applied", None)
    return bool(getattr(getattr(result, "edited", None), "applied", False) if told is None else told)


def _wants_live(index: Index | None, parameters: Any) -> bool:
    return bool(getattr(parameters, "live", False)) or (index is None and not getattr(parameters, "offline", False))


def _edits_off(name: str, *, writes: bool) -> EditsOff:
    what = "change files" if writes else "run the repository's code"
    way = "; without apply it shows what it would do" if writes else ""
    return EditsOff(f"{name} would {what}, and this server was started without --allow-edits{way}")


def _require_unicode(name: str, arguments: Mapping[str, Any]) -> None:
    for key, value in arguments.items():
        for text in value if isinstance(value, list) else [value]:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(text, str) and not _is_unicode(text):
                raise UsageError(f"{name}: '{key}' is not valid UTF-8")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
