"""A definition moved to another module or file, and all that imports it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from indexer.errors import EditRefused, UsageError
from indexer.languages import PYTHON
from indexer.servers.registry import language_of
from indexer.text import index_to_utf16
from query.answers.envelope import Answer, Place, Reason, completeness_from
from query.answers.pages import all_of
from query.answers.paths import listed, of_paths
from query.answers.style import Style
from query.context import Context
from query.facts import names
from query.facts.completeness import DEFINITION, Certificate
from query.facts.documents import contents
from query.facts.folders import edit_scope, index_command
from query.facts.freshness import is_as_indexed
from query.facts.imports import imports_of
from query.facts.index import Index
from query.facts.occurrences import mentions
from query.facts.parameters import asked
from query.facts.sources import Sources
from query.facts.symbols import Symbol
from query.live.outline import hangs
from query.refactor.outcome import Apply, Edited, PlanId, carry_out, done, lines
from query.surface.registry import tool

if TYPE_CHECKING:
    from query.edits.plan import Plan
    from query.edits.scope import Scope
    from query.edits.text import Document
    from query.refactor.move.moving import Moved
    from query.refactor.python_module import Module, Position
    from query.refactor.relocate.around import Relocated

_TOLD = 3


class MoveSymbol(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    symbol: Annotated[
        str, msgspec.Meta(description="a function, class, type or variable at the top level of its file: Python, TypeScript, Go")
    ] = ""
    to: Annotated[
        str, msgspec.Meta(description="the file that gets it, in Python also the dotted name of a module; a new file is made")
    ] = ""
    keep: Annotated[bool, msgspec.Meta(description="the old module goes on having the name, by importing it from the new one")] = False
    anyway: Annotated[
        bool, msgspec.Meta(description="write it also where uses may be left that are not known, or something else stands against it")
    ] = False
    apply: Apply = False
    plan: PlanId = ""


class MovedSymbol(msgspec.Struct, kw_only=True):
    """`edited`: what was or would be written. `workspace_edit`: the same for apply_edit, which refuses it once a file has changed.

    left: uses that are known and could not be rewritten. doubts: why the result may be broken code, in words.
    """

    name: str
    from_module: str
    to_module: str
    edited: Edited
    workspace_edit: dict[str, Any]
    left: list[Place] = []
    doubts: list[str] = []


def _text(answer: Answer[MovedSymbol], style: Style) -> Iterator[str]:
    found = answer.result
    yield f"{style.strong(found.name)}: {found.from_module} → {style.strong(found.to_module)}"
    yield from lines(found.edited, style)
    for doubt in found.doubts:
        yield f"{style.warning('to look at')}: {doubt}"
    if found.left:
        yield f"{style.warning('stays as it is')}:"
        yield from style.places(found.left)


@tool(
    "move_symbol",
    parameters=MoveSymbol,
    result=MovedSymbol,
    positional="symbol to",
    needs="symbol to",
    example="move_symbol shortcuts.redirect http/redirects.py",
    task="edit",
    hint="refactor move function class to another module file imports relocate extract to file split put helper fix",
    text=_text,
    done=done,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
    catches_up=True,
)
def TOOL(context: Context, ask: MoveSymbol) -> Answer[MovedSymbol]:
    """Moves a function, class, type or variable to another module or file, with imports and users mended: Python, TypeScript, Go."""
    if not ask.symbol or not ask.to:
        raise UsageError("say what to move, and where to: symbol, to")
    index, workspace = context.index, context.workspace
    symbol = names.resolve(index, ask.symbol)
    tried: list[Relocated] = []

    def doubts_of(found: Relocated) -> list[str]:
        return [*found.doubts, *_said_of(found, gaps if found.follows else [])]

    def plan(scope: Scope) -> Plan:
        from query.edits.plan import plan_documents

        found = _made(index, scope, symbol, ask)
        tried.append(found)
        doubts = doubts_of(found)
        if ask.apply and not ask.anyway and doubts:
            raise EditRefused(f"nothing was written: {'; '.join(doubts)}. Look at it without apply first; to write it all the same: anyway")
        return plan_documents(scope, found.documents, found.digests)

    gaps = _gaps(index, symbol)
    outcome = carry_out(workspace, plan, write=ask.apply, shown=ask.plan)
    [found] = tried
    if not ask.apply and doubts_of(found):
        outcome.edited.needs = [{"anyway": True}]
    reasons = [*outcome.reasons, *(gaps if found.follows else [])]
    left = [_place(found.read[place.path], place.path, place.line, place.col, symbol.record.name) for place in found.left]
    if left:
        reasons.append(of_paths("left_behind", "uses that could not be rewritten stay as they are", sorted({item.path for item in left})))
    if found.wants:
        detail = f"'{found.target}' imports what was not found, and who imports from it needs that too: {listed(found.wants)}"
        reasons.append(of_paths("unresolved_imports", detail, [found.target]))
    result = MovedSymbol(
        name=symbol.record.name,
        from_module=found.from_module,
        to_module=found.to_module,
        edited=outcome.edited,
        workspace_edit=outcome.plan.as_workspace_edit(edit_scope(workspace.root, index)),
        left=left,
        doubts=found.doubts,
    )
    long = any(item.diff_lines_left_out for item in outcome.edited.files)
    resolved = {"resolved": {"qualified_name": symbol.record.qualified_name, "path": symbol.record.path, "line": symbol.record.line}}
    return workspace.answer({**asked(ask), **resolved}, result, all_of(outcome.edited.edits, cut_short=long), completeness_from(reasons))


def _made(index: Index, scope: Scope, symbol: Symbol, ask: MoveSymbol) -> Relocated:
    """The texts after the move, by the rules of the symbol's language."""
    from query.refactor.positional.sites import takes_by_place
    from query.refactor.relocate.around import Left, Relocated

    record = symbol.record
    if record.external:
        raise UsageError(f"'{record.qualified_name}' is not defined in the workspace, so it cannot be moved")
    if takes_by_place(record.path):
        from query.refactor.relocate import moves

        return moves.moved(index, scope, symbol, ask.to, keeps=ask.keep)
    route = _route(index, scope, symbol, ask.to)
    found = _moved(index, scope, symbol, route, keeps=ask.keep)
    return Relocated(
        documents=found.documents,
        read=route.texts,
        digests=route.digests,
        doubts=found.doubts,
        left=[Left(place.path, place.line, place.col) for place in found.left],
        from_module=route.from_module,
        to_module=route.to_module,
        target=route.target,
        wants=[] if route.is_new else [said.text for said in imports_of(index, route.target, Sources(index)) if not said.resolved],
    )


class _Route(msgspec.Struct, kw_only=True):
    """`texts`: of all documents that name it, by path; `digests`: of those and of the new one, empty where no file is.

    `stars`: all modules that import everything of another one.
    """

    source: str
    target: str
    from_module: str
    to_module: str
    is_new: bool
    texts: dict[str, Document]
    digests: dict[str, str]
    places: dict[str, set[Position]]
    stars: dict[str, Module]


def _route(index: Index, scope: Scope, symbol: Symbol, to: str) -> _Route:
    """What is to be read, as it is now.

    Raises:
        UsageError, EditRefused: it is nothing that can be moved, or not there.
    """
    from query.edits.text import decode
    from query.refactor.move.modules_around import name_of_new
    from query.refactor.move.star_imports import with_stars

    record = symbol.record
    if language_of(record.path) != PYTHON.name:
        raise UsageError(
            f"'{record.qualified_name}' is not Python, TypeScript or Go; instead: suggest_fixes at its definition with "
            "only=refactor, where its server offers a move; else apply_edit, and find_references lists whose imports have to follow"
        )
    target = _target(index, scope, to)
    if target == record.path:
        raise UsageError(f"'{record.qualified_name}' is in '{target}' already")
    places = _places(index, symbol)
    known = contents(index, [record.path, target, *places])
    stars = with_stars(index, scope)
    named = known[record.path].module if record.path in known else ""
    all_of_it = {path for path, module in stars.items() if any(module.from_module(node) == named for node in module.stars)}
    read = {record.path, target, *places, *all_of_it}
    old = [path for path in sorted(read) if path in (known.keys() | all_of_it) and not is_as_indexed(index, path)]
    if old:
        raise EditRefused(f"files have changed since the index was made ({listed(old)}); first run: {index_command(index)}")
    texts: dict[str, Document] = {}
    digests: dict[str, str] = {}
    for path in sorted(read):
        content = scope.read(path)
        digests[path] = ""
        if content is not None:
            texts[path] = decode(content, f"'{path}'")
            digests[path] = texts[path].digest
    names_of = {path: item.module for path, item in known.items()}
    to_module = names_of.get(target) or name_of_new(index, target)
    if not names_of.get(record.path) or not all(part.isidentifier() for part in to_module.split(".")):
        raise UsageError(f"'{record.path if not names_of.get(record.path) else target}' is no module that others could import from")
    return _Route(
        source=record.path, target=target, from_module=names_of[record.path], to_module=to_module, is_new=target not in texts,
        texts=texts, digests=digests, places={path: of_file for path, of_file in places.items() if path in texts}, stars=stars,
    )  # fmt: skip


def _target(index: Index, scope: Scope, to: str) -> str:
    """The path that is meant: a file, or a module of the workspace by its dotted name."""
    if not to.endswith(".py") and "/" not in to:
        from query.refactor.move.modules_around import called

        named = called(index, to)
        if len(named) == 1:
            return named[0]
        raise UsageError(f"no module is called '{to}'; a new one is named by its file: {to.replace('.', '/')}.py")
    path = scope.of_path(to)
    if not path.endswith(".py"):
        raise UsageError(f"'{to}' is no file of Python; name one that ends with .py")
    return path


def _places(index: Index, symbol: Symbol) -> dict[str, set[Position]]:
    """Where the index has the symbol, by path; 0-based lines and UTF-16 columns."""
    found = mentions(index, symbol.sym_id)
    documents = index.documents({mention.doc_id for mention in found})
    by_path: dict[str, set[Position]] = {}
    for doc_id, line, col in found:
        by_path.setdefault(documents[doc_id][0], set()).add((line, col))
    return by_path


def _moved(index: Index, scope: Scope, symbol: Symbol, route: _Route, *, keeps: bool) -> Moved:
    from query.edits.text import Document
    from query.refactor.move.modules_around import circles, in_place_of, patches
    from query.refactor.move.moving import moved
    from query.refactor.move.star_imports import handing_on
    from query.refactor.python_module import Module

    texts = {path: text for path, text in route.texts.items() if language_of(path) == PYTHON.name}
    slow = hangs([(path, text.for_server) for path, text in texts.items()])
    if slow:
        raise EditRefused(f"no parser reads '{list(texts)[min(slow)]}' in a time that fits its size")
    known = contents(index, list(texts))

    def name_of(path: str) -> str:
        return known[path].module if path in known else route.to_module

    read = {path: Module(path, name_of(path), text) for path, text in texts.items()}
    target = read.pop(route.target, None) or Module(route.target, route.to_module, Document(text=""))
    source = read.pop(route.source)
    found = moved(
        symbol.record.name,
        source,
        target,
        [read[path] for path in sorted(read)],
        route.places,
        is_new=route.is_new,
        keeps=keeps,
        others={path: text for path, text in route.texts.items() if path not in texts},
        hands_on=handing_on(symbol.record.name, source, route.stars, [*read.values(), target]),
    )
    _tidy(index, scope, source, found)
    after = {path: Module(path, name_of(path), document) for path, document in found.documents.items() if path.endswith(".py")}
    same = in_place_of(index, source, after[route.target], found.line) if route.is_new else ()
    found.doubts += circles(index, scope, after, same)
    if route.is_new and found.registers and not any(route.to_module in module.loads() for module in after.values()):
        found.doubts.append(
            f"{found.registers} may register it when it is defined, and no module here imports '{route.target}' when it is loaded"
        )
    if scope.read(f"{route.source}i") is not None:
        found.doubts.append(f"'{route.source}i' declares it too, and stays as it is")
    found.doubts += patches(index, source, found.takes)
    return found


def _tidy(index: Index, scope: Scope, source: Module, found: Moved) -> None:
    """Takes the imports out of the old module that only the definition used, unless others take them from there.

    Those of the workspace's own modules stay where something that has an effect would no longer be loaded.
    """
    from query.refactor.move.modules_around import is_of_the_workspace, no_longer_loaded
    from query.refactor.move.moved_block import has_effects
    from query.refactor.move.star_imports import taken_from
    from query.refactor.move.unused_imports import imported_from, no_longer_used, tidied
    from query.refactor.python_module import Module

    moved = Module(source.path, source.name, found.documents[source.path])
    names = no_longer_used(source, moved)
    if not names or not (names := names - taken_from(index, scope, source, names)):
        return
    tidy = Module(source.path, source.name, tidied(source, moved, names))
    if any(has_effects(module) for module in no_longer_loaded(index, scope, moved, tidy)):
        names = {name for name in names if not any(is_of_the_workspace(index, said) for said in imported_from(moved, name))}
        tidy = Module(source.path, source.name, tidied(source, moved, names))
    found.documents[source.path] = tidy.document


def _gaps(index: Index, symbol: Symbol) -> list[Reason]:
    """Why uses may be unknown, but for files that have changed: those are refused."""
    known = Certificate(index).of_uses([symbol], "references", DEFINITION)
    return [reason for reason in known.reasons if reason.code != "stale"]


def _said_of(found: Relocated, gaps: Collection[Reason]) -> list[str]:
    said: list[str] = []
    if found.left:
        said.append(f"uses that could not be rewritten: {listed([f'{place.path}:{place.line + 1}' for place in found.left])}")
    if gaps:
        said.append(f"uses may be left that are not known: {'; '.join(reason.detail for reason in list(gaps)[:_TOLD])}")
    return said


def _place(document: Document, path: str, line: int, col: int, name: str) -> Place:
    low, high = document.lines.bounds(line)
    text = document.text[low:high].strip()[:200]
    return Place(path=path, line=line + 1, col=col + 1, end_col=col + 1 + index_to_utf16(name, len(name)), text=text)
