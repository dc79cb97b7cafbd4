"""The parameters of a function changed, and all calls of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from indexer.errors import EditRefused, UsageError
from indexer.languages import PYTHON
from indexer.text import index_to_utf16
from query.answers.envelope import Answer, Place, Reason, completeness_from
from query.answers.pages import all_of
from query.answers.paths import listed, of_paths
from query.answers.style import Style, count
from query.context import Context
from query.facts.completeness import DEFINITION, Certificate
from query.facts.folders import edit_scope
from query.facts.index import Index
from query.facts.parameters import Named, asked
from query.facts.symbols import Symbol
from query.refactor.outcome import Apply, Edited, PlanId, carry_out, done, lines
from query.refactor.simulation.trial import Evaluation, evaluation_lines, judged
from query.surface.registry import tool

if TYPE_CHECKING:
    from query.edits.plan import Plan
    from query.edits.scope import Scope
    from query.edits.text import Document
    from query.refactor.parameters.changed_definition import Added
    from query.refactor.parameters.changing_signature import Made
    from query.refactor.parameters.signature import Wish
    from query.refactor.parameters.signature_uses import Kin

_WORD = re.compile(r"[^\W\d][\w$]*")
_KINDS = ("function", "method", "constructor", "class")
_SAY_WHAT = "say what to change: add, remove, rename, order"
_TOLD = 3
_SHOWN = 200
_TEXTS = 5
_LOOKED_AT = ("stale", "escapes", "unresolved_same_name")
"""Reasons that are not repeated: files that have changed are refused, and the other places are looked at one by one."""


class ChangeSignature(Named, kw_only=True):
    add: Annotated[
        list[str],
        msgspec.Meta(
            description="a parameter as the function's head will say it: 'timeout: float = 10' ('*, timeout=10': by keyword only), "
            "'timeout?: number', 'ctx context.Context'"
        ),
    ] = []
    remove: Annotated[list[str], msgspec.Meta(description="name of a parameter that the body no longer uses")] = []
    rename: Annotated[list[str], msgspec.Meta(description="old=new")] = []
    order: Annotated[
        list[str],
        msgspec.Meta(
            description="all parameters by their new names, in the new order: a,b,*,c; `*` and `/` where other kinds begin in Python; "
            "#2: the second, where it has no name of its own"
        ),
    ] = []
    after: Annotated[str, msgspec.Meta(description="parameter behind which the added ones go; else at the end")] = ""
    call_with: Annotated[list[str], msgspec.Meta(description="what calls pass for an added parameter: timeout=None")] = []
    anyway: Annotated[
        bool, msgspec.Meta(description="write it also where calls are left that may not fit, or something else stands against it")
    ] = False
    diagnostics: Annotated[
        bool,
        msgspec.Meta(
            description="also ask the language server which errors it brings and takes away, in the files that change and those that "
            "depend on them; with errors that it brings it is not written"
        ),
    ] = False
    apply: Apply = False
    plan: PlanId = ""


class LeftUse(msgspec.Struct, kw_only=True):
    """A use that stays as it is, and why it was not rewritten."""

    why: str
    place: Place


class ChangedSignature(msgspec.Struct, kw_only=True):
    """`edited`: what was or would be written. `workspace_edit`: the same for apply_edit, which refuses it once a file has changed.

    functions: all that change together: what overrides it, and what it overrides. calls: how many are rewritten.
    left: uses that may not fit the new parameters and stay as they are. doubts: why the result may be broken code, in words.
    preview: the errors that it brings and takes away, where diagnostics were asked for; its left_behind is empty, as left tells that.
    """

    name: str
    before: str
    after: str
    functions: list[str]
    calls: int
    edited: Edited
    workspace_edit: dict[str, Any]
    left: list[LeftUse] = []
    left_total: int = 0
    doubts: list[str] = []
    preview: Evaluation | None = None


def _text(answer: Answer[ChangedSignature], style: Style) -> Iterator[str]:
    found = answer.result
    yield f"{style.strong(found.name)}{found.before} → {style.strong(found.after)}: {count(found.calls, 'call')} rewritten"
    if len(found.functions) > 1:
        yield f"{style.dim('together with')}: {listed(found.functions[1:])}"
    yield from lines(found.edited, style)
    for doubt in found.doubts:
        yield f"{style.warning('to look at')}: {doubt}"
    by_why: dict[str, list[Place]] = {}
    for item in found.left:
        by_why.setdefault(item.why, []).append(item.place)
    for why, places in by_why.items():
        yield f"{style.warning('stays as it is')}: {why}"
        yield from _listed(places, style)
    if found.left_total > len(found.left):
        yield style.dim(f"… {found.left_total - len(found.left)} more")
    if found.preview is not None:
        yield from evaluation_lines(found.preview, style)


def _listed(places: Sequence[Place], style: Style) -> Iterator[str]:
    """An agent sees the text of the first places of each file, and of the others the lines."""
    for path, group in groupby(places, key=lambda place: place.path):
        of_file = list(group)
        shown = of_file[:_TEXTS] if style.compact and len(of_file) > _TEXTS + 1 else of_file
        yield from style.places(shown)
        if others := of_file[len(shown) :]:
            yield f"  {style.path(path)}, lines {', '.join(str(place.line) for place in others)}"


@tool(
    "change_signature",
    parameters=ChangeSignature,
    result=ChangedSignature,
    positional="symbol",
    example="change_signature shortcuts.redirect --rename to=target --add 'status: int = 302'",
    task="edit",
    hint="refactor add remove rename reorder parameter argument keyword order of function method constructor callers signature default",
    text=_text,
    done=done,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
    catches_up=True,
)
def TOOL(context: Context, ask: ChangeSignature) -> Answer[ChangedSignature]:
    """Adds, removes, renames or reorders parameters of a function, method or constructor, with all calls of it: Python, TypeScript, Go."""
    index, workspace = context.index, context.workspace
    symbol, makes = _maker(index, ask.resolve(index, _KINDS), ask)
    tried: list[_Made] = []

    def plan(scope: Scope) -> Plan:
        from query.edits.plan import plan_documents

        found = makes(scope)
        tried.append(found)
        new = found.made.changed.documents
        if ask.diagnostics and new:
            found.preview, found.judged = judged(workspace, {path: found.made.documents[path].content for path in new}, new)
        doubts = _doubts(found)
        if ask.apply and not ask.anyway and doubts:
            raise EditRefused(f"nothing was written: {'; '.join(doubts)}. Look at it without apply first; to write it all the same: anyway")
        return plan_documents(scope, new, found.made.digests)

    outcome = carry_out(workspace, plan, write=ask.apply, shown=ask.plan)
    [found] = tried
    if not ask.apply and _doubts(found):
        outcome.edited.needs = [{"anyway": True}]
    made = found.made
    left = [LeftUse(why=item.why, place=_place(made.documents.get(item.path), item.path, item.place)) for item in made.changed.left]
    reasons = [*outcome.reasons, *found.gaps, *found.judged]
    if left:
        detail = "uses that may not fit the new parameters stay as they are"
        reasons.append(of_paths("left_behind", detail, sorted({item.place.path for item in left}), len(left)))
    result = ChangedSignature(
        name=symbol.record.qualified_name,
        before=made.before,
        after=made.after,
        functions=made.functions,
        calls=made.changed.calls,
        edited=outcome.edited,
        workspace_edit=outcome.plan.as_workspace_edit(edit_scope(workspace.root, index)),
        left=left[:_SHOWN],
        left_total=len(left),
        doubts=made.changed.doubts,
        preview=found.preview,
    )
    long = any(item.diff_lines_left_out for item in outcome.edited.files)
    meant = {**asked(ask), **asked(ChangeSignature(), symbol.record)}
    return workspace.answer(meant, result, all_of(outcome.edited.edits, cut_short=long), completeness_from(reasons))


def _maker(index: Index, symbol: Symbol, ask: ChangeSignature) -> tuple[Symbol, Callable[[Scope], _Made]]:
    """The function that is meant, and what makes the new texts, by how its language passes arguments."""
    from query.refactor.positional import sites

    if not symbol.record.external and sites.takes_by_place(symbol.record.path):
        from query.refactor.positional import asked as by_place

        symbol = sites.target_of(index, symbol)
        wanted = by_place.Asked(_wish_by_place(ask), ask.add)
        kin = sites.kin_of(index, symbol, by_place.language_for(symbol))
        gaps = _gaps(index, symbol, kin)
        return symbol, lambda scope: _Made(made=by_place.made(index, scope, symbol, kin, wanted, gaps), gaps=gaps)
    from query.refactor.parameters import asked as of_python
    from query.refactor.parameters.signature_uses import kin_of, target_of

    symbol = target_of(index, symbol)
    wish = _wish(ask)
    kin = kin_of(index, symbol)
    gaps = _gaps(index, symbol, kin)
    return symbol, lambda scope: _Made(made=of_python.made(index, scope, symbol, kin, wish, gaps), gaps=gaps)


# ---- what is asked for


def _wish_by_place(ask: ChangeSignature) -> Wish:
    """Without what is added, which the language reads."""
    return _wanted(ask, (), "timeout=null")


def _wish(ask: ChangeSignature) -> Wish:
    from query.refactor.parameters.changed_definition import added

    wish = _wanted(ask, tuple(added(text) for text in ask.add), "timeout=None")
    _check_names(wish)
    return wish


def _wanted(ask: ChangeSignature, added: tuple[Added, ...], example: str) -> Wish:
    """`example`: of what calls may be given, in the language's own words."""
    from query.refactor.parameters.signature import Wish

    wish = Wish(
        added=added,
        removed=tuple(_names(ask.remove)),
        renamed=_pairs(ask.rename, "rename", "old=new"),
        given=_pairs(ask.call_with, "call_with", example),
        after=ask.after,
        order=tuple(_names(ask.order)),
    )
    if not (ask.add or wish.removed or wish.renamed or wish.order):
        raise UsageError(_SAY_WHAT)
    return wish


def _names(said: Sequence[str]) -> list[str]:
    """`a,b` and `a`, `b` are the same."""
    return [word for text in said for part in text.split(",") if (word := part.strip())]


def _pairs(said: Sequence[str], parameter: str, form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in said:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise UsageError(f"{parameter} '{text}' is not of the form {form}")
        if name.strip() in found:
            raise UsageError(f"{parameter} says '{name.strip()}' twice")
        found[name.strip()] = value.strip()
    return found


def _check_names(wish: Wish) -> None:
    import ast

    from query.refactor.rename import check_name

    for name in wish.renamed.values():
        check_name(name, PYTHON.name)
    for name, value in wish.given.items():
        try:
            ast.parse(f"f(\n{value}\n)", mode="eval")
            is_one = not value.lstrip().startswith("*") and "#" not in value
        except (SyntaxError, ValueError) as error:
            raise UsageError(f"'{value}' is no expression that calls could pass for '{name}'") from error
        if not is_one:
            raise UsageError(f"'{value}' is no expression that calls could pass for '{name}'")


# ---- what it does


class _Made(msgspec.Struct, kw_only=True):
    """gaps: reasons why uses may be unknown. preview, judged: what servers say, and why that may not be all of it."""

    made: Made
    gaps: list[Reason]
    preview: Evaluation | None = None
    judged: list[Reason] = []


def _gaps(index: Index, symbol: Symbol, kin: Kin) -> list[Reason]:
    """Why uses may be unknown, but for what is looked at by itself."""
    members = [symbol, *(item for key, item in kin.members.items() if key != symbol.sym_id)]
    known = Certificate(index).of_uses(members, "callers", DEFINITION)
    return [reason for reason in known.reasons if reason.code not in _LOOKED_AT]


def _doubts(found: _Made) -> list[str]:
    """Why the result may be broken code, in words."""
    return [*found.made.changed.doubts, *_said_of(found)]


def _said_of(found: _Made) -> list[str]:
    said: list[str] = []
    if found.made.changed.left:
        places = [f"{item.path}:{item.place[0] + 1}" for item in found.made.changed.left]
        said.append(f"uses stay that may not fit the new parameters: {listed(places)}")
    if found.made.unknown:
        said.append(f"uses may be left that are not known: {'; '.join(reason.detail for reason in found.made.unknown[:_TOLD])}")
    if found.preview is not None and (errors := found.preview.errors_introduced):
        said.append(f"it brings errors: {listed([f'{item.path}:{item.line} {item.message}' for item in errors], _TOLD)}")
    elif found.preview is not None and found.preview.net_delta is None:
        said.append("no server judges what it would write")
    return said


def _place(text: Document | None, path: str, at: tuple[int, int]) -> Place:
    line, col = at
    if text is None:
        return Place(path=path, line=line + 1, col=col + 1, end_col=col + 1, text="")
    start = text.lines.offset(line, col)
    found = _WORD.match(text.text, start)
    said = found[0] if found else ""
    low, high = text.lines.bounds(line)
    shown = text.text[low:high].strip()[:200]
    return Place(path=path, line=line + 1, col=col + 1, end_col=col + 1 + index_to_utf16(said, len(said)), text=shown)
