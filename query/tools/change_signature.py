"""The parameters of a function changed, and all calls of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from indexer.errors import EditRefused, UsageError
from indexer.languages import PYTHON
from indexer.servers.registry import language_of
from indexer.text import index_to_utf16
from query.answers.envelope import Answer, Place, Reason, completeness_from
from query.answers.pages import all_of
from query.answers.paths import listed, of_paths
from query.answers.style import Style, count
from query.context import Context
from query.facts.callable_sites import keywords_of, types_at
from query.facts.completeness import DEFINITION, Certificate
from query.facts.documents import contents
from query.facts.folders import edit_scope, index_command
from query.facts.freshness import is_as_indexed
from query.facts.index import Index
from query.facts.parameters import Named, asked
from query.facts.symbols import Symbol
from query.live.outline import hangs
from query.refactor.outcome import Apply, Edited, PlanId, carry_out, done, lines
from query.refactor.simulation.trial import Evaluation, evaluation_lines, judged
from query.surface.registry import tool

if TYPE_CHECKING:
    from query.edits.plan import Plan
    from query.edits.scope import Scope
    from query.edits.text import Document
    from query.refactor.parameters.call_sites import Code
    from query.refactor.parameters.changed_definition import Definition
    from query.refactor.parameters.changing_signature import Changed, Left, Site
    from query.refactor.parameters.signature import Wish
    from query.refactor.parameters.signature_uses import Family, Kin, Uses
    from query.refactor.positional.asked import Asked

_WORD = re.compile(r"[^\W\d][\w$]*")
_KINDS = ("function", "method", "constructor", "class")
_SAY_WHAT = "say what to change: add, remove, rename, order"
_TOLD = 3
_SHOWN = 200
_LOOKED_AT = ("stale", "escapes", "unresolved_same_name")
"""Reasons that are not repeated: files that have changed are refused, and the other places are looked at one by one."""


class ChangeSignature(Named, kw_only=True):
    add: Annotated[
        list[str],
        msgspec.Meta(description="a parameter as the function's head will say it: 'timeout: float = 10'; '*, timeout=10': by keyword only"),
    ] = []
    remove: Annotated[list[str], msgspec.Meta(description="name of a parameter that the body no longer uses")] = []
    rename: Annotated[list[str], msgspec.Meta(description="old=new")] = []
    order: Annotated[
        list[str],
        msgspec.Meta(description="all parameters by their new names, in the new order: a,b,*,c; `*` and `/` where other kinds begin"),
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
        yield from style.places(places)
    if found.left_total > len(found.left):
        yield style.dim(f"… {found.left_total - len(found.left)} more")
    if found.preview is not None:
        yield from evaluation_lines(found.preview, style)


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
    made: list[_Made] = []

    def plan(scope: Scope) -> Plan:
        from query.edits.plan import plan_documents

        found = makes(scope)
        made.append(found)
        if ask.diagnostics and found.changed.documents:
            before = {path: found.originals[path] for path in found.changed.documents}
            found.preview, found.judged = judged(workspace, before, found.changed.documents)
        doubts = [*found.changed.doubts, *_said_of(found)]
        if ask.apply and not ask.anyway and doubts:
            raise EditRefused(f"nothing was written: {'; '.join(doubts)}. Look at it without apply first; to write it all the same: anyway")
        return plan_documents(scope, found.changed.documents, found.digests)

    outcome = carry_out(workspace, plan, write=ask.apply, shown=ask.plan)
    [found] = made
    left = [LeftUse(why=item.why, place=found.place(item.path, item.place)) for item in found.changed.left]
    reasons = [*outcome.reasons, *found.gaps, *found.judged]
    if left:
        detail = "uses that may not fit the new parameters stay as they are"
        reasons.append(of_paths("left_behind", detail, sorted({item.place.path for item in left}), len(left)))
    result = ChangedSignature(
        name=symbol.record.qualified_name,
        before=found.before,
        after=found.after,
        functions=found.functions,
        calls=found.changed.calls,
        edited=outcome.edited,
        workspace_edit=outcome.plan.as_workspace_edit(edit_scope(workspace.root, index)),
        left=left[:_SHOWN],
        left_total=len(left),
        doubts=found.changed.doubts,
        preview=found.preview,
    )
    long = any(item.diff_lines_left_out for item in outcome.edited.files)
    meant = {**asked(ask), **asked(ChangeSignature(), symbol.record)}
    return workspace.answer(meant, result, all_of(outcome.edited.edits, cut_short=long), completeness_from(reasons))


def _maker(index: Index, symbol: Symbol, ask: ChangeSignature) -> tuple[Symbol, Callable[[Scope], _Made]]:
    """The function that is meant, and what makes the new texts, by how its language passes arguments."""
    from query.refactor.positional import sites

    if not symbol.record.external and sites.takes_by_place(symbol.record.path):
        from query.refactor.positional.asked import Asked, language_for

        symbol = sites.target_of(index, symbol)
        by_place = Asked(_wish_by_place(ask), ask.add)
        kin = sites.kin_of(index, symbol, language_for(symbol))
        gaps = _gaps(index, symbol, kin)
        return symbol, lambda scope: _made_by_place(index, scope, symbol, kin, by_place, gaps)
    from query.refactor.parameters.signature_uses import kin_of, target_of

    symbol = target_of(index, symbol)
    wish = _wish(ask)
    kin = kin_of(index, symbol)
    gaps = _gaps(index, symbol, kin)
    return symbol, lambda scope: _make(index, scope, symbol, kin, wish, gaps)


def _made_by_place(index: Index, scope: Scope, symbol: Symbol, kin: Kin, wanted: Asked, gaps: Sequence[Reason]) -> _Made:
    from query.refactor.positional.asked import made

    found = made(index, scope, symbol, kin, wanted, gaps)
    codes = found.codes

    def place(path: str, at: tuple[int, int]) -> Place:
        text = codes[path].document if path in codes else None
        return _place(text, path, at)

    return _Made(
        before=found.before,
        after=found.after,
        functions=found.functions,
        originals={path: code.document.content for path, code in codes.items()},
        place=place,
        changed=found.changed,
        digests=found.digests,
        gaps=list(gaps),
        unknown=found.unknown,
    )


# ---- what is asked for


def _wish_by_place(ask: ChangeSignature) -> Wish:
    """Without what is added, which the language reads."""
    from query.refactor.parameters.signature import Wish

    wish = Wish(
        removed=tuple(_names(ask.remove)),
        renamed=_pairs(ask.rename, "rename", "old=new"),
        given=_pairs(ask.call_with, "call_with", "timeout=null"),
        after=ask.after,
        order=tuple(_names(ask.order)),
    )
    if not (ask.add or wish.removed or wish.renamed or wish.order):
        raise UsageError(_SAY_WHAT)
    return wish


def _wish(ask: ChangeSignature) -> Wish:
    from query.refactor.parameters.changed_definition import added
    from query.refactor.parameters.signature import Wish

    wish = Wish(
        added=tuple(added(text) for text in ask.add),
        removed=tuple(_names(ask.remove)),
        renamed=_pairs(ask.rename, "rename", "old=new"),
        given=_pairs(ask.call_with, "call_with", "timeout=None"),
        after=ask.after,
        order=tuple(_names(ask.order)),
    )
    if not (wish.added or wish.removed or wish.renamed or wish.order):
        raise UsageError(_SAY_WHAT)
    _check_names(wish)
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


def _said(signature: Sequence[Any]) -> str:
    """The names of parameters, as a head has them."""
    from query.refactor.parameters.signature import KEYWORD_ONLY, KWARGS, POSITIONAL_ONLY, VARARGS

    words: list[str] = []
    for number, item in enumerate(signature):
        before = signature[number - 1].kind if number else None
        if before == POSITIONAL_ONLY and item.kind != POSITIONAL_ONLY:
            words.append("/")
        if item.kind == KEYWORD_ONLY and before not in (KEYWORD_ONLY, VARARGS):
            words.append("*")
        words.append({VARARGS: "*", KWARGS: "**"}.get(item.kind, "") + item.name)
    return f"({', '.join([*words, *(['/'] if signature and signature[-1].kind == POSITIONAL_ONLY else [])])})"


# ---- what it does


class _Made(msgspec.Struct, kw_only=True):
    """before, after: the parameters. functions: what changes together. originals: the files' bytes as they are, by path.

    digests: of all files that were read, by path. place: how a place is shown. gaps: reasons why uses may be unknown; unknown: those of
    them that could break. preview, judged: what servers say, and why that may not be all of it.
    """

    before: str
    after: str
    functions: list[str]
    originals: dict[str, bytes]
    place: Callable[[str, tuple[int, int]], Place]
    changed: Changed
    digests: dict[str, str]
    gaps: list[Reason]
    unknown: list[Reason]
    preview: Evaluation | None = None
    judged: list[Reason] = []


def _make(index: Index, scope: Scope, symbol: Symbol, kin: Kin, wish: Wish, gaps: Sequence[Reason]) -> _Made:
    """The texts after the change.

    Raises:
        UsageError, EditRefused: it cannot be had.
    """
    from query.refactor.parameters.changing_signature import changed_texts, receivers
    from query.refactor.parameters.signature import is_compatible
    from query.refactor.parameters.signature_uses import class_family, is_special, paths_of, uses_of

    uses = uses_of(index, kin.members, unknown=True)
    family = class_family(index, symbol)
    codes, digests = _read(index, scope, sorted({*paths_of(kin.members, uses.sites), *(item.record.path for item in family.classes)}))
    doubts: list[str] = []
    if is_special(symbol.record.name):
        doubts.append(f"'{symbol.record.name}' has the form of a special method, and a library may call it by a protocol of its own")
    definitions = _definitions(symbol, kin, codes, wish, doubts)
    shown = receivers(codes, uses.sites)
    types: dict[str, set[int]] = {}
    for path, line, col in types_at(index, {(item.path, *item.place) for item in shown}):
        types.setdefault(path, set()).add(codes[path].offset((line, col)))
    sites = [site._replace(of=of) for site in uses.sites if (of := tuple(one for one in site.of if one in definitions))]
    found = changed_texts(definitions, wish, codes, sites, {path: frozenset(offsets) for path, offsets in types.items()})
    is_safe = all(is_compatible(item.change, is_bound=True) and is_compatible(item.change, is_bound=False) for item in definitions.values())
    found.doubts = [*doubts, *found.doubts]
    if not is_safe:
        found.left += _handed_over(family.classes, codes)
        found.doubts += _of_others(index, scope, kin, definitions, uses, family, codes, sites)
    main = definitions[symbol.sym_id].change
    return _Made(
        before=_said(main.before),
        after=_said(main.after),
        functions=[
            symbol.record.qualified_name,
            *sorted(kin.members[key].record.qualified_name for key in definitions if key != symbol.sym_id),
        ],
        originals={path: code.module.document.content for path, code in codes.items()},
        place=lambda path, at: _place(codes[path].module.document if path in codes else None, path, at),
        changed=found,
        digests=digests,
        gaps=list(gaps),
        unknown=[] if is_safe else list(gaps),
    )


def _handed_over(family: Sequence[Symbol], codes: Mapping[str, Code]) -> list[Left]:
    """Where the methods of these classes hand over the class of their object."""
    from query.refactor.parameters.changing_signature import Left
    from query.refactor.parameters.handed_classes import handed_over

    why = "the class of the object is handed over, and how it is called there is not known"
    return [
        Left(item.record.path, code.position(code.start(node)), why)
        for item in family
        if (code := codes.get(item.record.path)) is not None
        for node in handed_over(code, (item.record.line - 1, item.record.col - 1))
    ]


def _read(index: Index, scope: Scope, paths: Sequence[str]) -> tuple[dict[str, Code], dict[str, str]]:
    """The texts as they are now, and their digests.

    Raises:
        EditRefused: one has changed since the index was made, or is no Python.
    """
    from query.edits.text import decode
    from query.refactor.parameters.call_sites import Code
    from query.refactor.python_module import Module

    known = contents(index, paths)
    if old := [path for path in paths if path in known and not is_as_indexed(index, path)]:
        raise EditRefused(f"files have changed since the index was made ({listed(old)}); first run: {index_command(index)}")
    texts = {
        path: decode(content, f"'{path}'")
        for path in paths
        if language_of(path) == PYTHON.name and (content := scope.read(path)) is not None
    }
    slow = hangs([(path, text.for_server) for path, text in texts.items()])
    if slow:
        raise EditRefused(f"no parser reads '{list(texts)[min(slow)]}' in a time that fits its size")
    codes: dict[str, Code] = {}
    for path, text in texts.items():
        codes[path] = Code(Module(path, known[path].module if path in known else "", text))
    return codes, {path: text.digest for path, text in texts.items()}


def _definitions(symbol: Symbol, kin: Kin, codes: Mapping[str, Code], wish: Wish, doubts: list[str]) -> dict[int, Definition]:
    """What changes, by number; of others of the family it is said that they stay."""
    from query.refactor.parameters.changed_definition import definition, signature_of

    doubts += kin.doubts
    found: dict[int, Definition] = {}
    other: list[str] = []
    for key, item in sorted(kin.members.items(), key=lambda pair: pair[0] != symbol.sym_id):
        record = item.record
        code = codes.get(record.path)
        nodes = sorted(code.definitions((record.line - 1, record.col - 1)), key=lambda node: node.lineno) if code is not None else []
        if code is None or not nodes:
            if key == symbol.sym_id:
                raise EditRefused(f"'{record.qualified_name}' is not found as a `def` at {record.path}:{record.line}")
            other.append(f"{record.qualified_name} ({record.path}:{record.line})")
            continue
        if key != symbol.sym_id:
            own, first = signature_of(nodes[-1]), signature_of(found[symbol.sym_id].nodes[-1])
            has = {one.name for one in own}
            if not wish.named <= has or not has.isdisjoint({one.name for one in wish.added}) or _places(own) != _places(first):
                other.append(f"{record.qualified_name} ({record.path}:{record.line})")
                continue
        found[key] = definition(code, nodes, wish, record.qualified_name)
    if other:
        doubts.append(
            f"{listed(other)} may be called in its place (overrides it, is overridden by it, or has what the same protocol asks for), "
            "has other parameters, and stays as it is"
        )
    return found


def _places(signature: Sequence[Any]) -> list[str]:
    from query.refactor.parameters.signature import NORMAL, POSITIONAL_ONLY

    return [item.name for item in signature if item.kind in (POSITIONAL_ONLY, NORMAL)][1:]


def _of_others(
    index: Index,
    scope: Scope,
    kin: Kin,
    definitions: Mapping[int, Definition],
    uses: Uses,
    family: Family,
    codes: Mapping[str, Code],
    sites: Sequence[Site],
) -> list[str]:
    """What stands against a change that some call could not bear, beside the calls."""
    from query.refactor.parameters.changed_definition import decorators_of
    from query.refactor.parameters.quoted_calls import quoted_calls
    from query.refactor.parameters.signature import Rewritten, rewritten
    from query.refactor.parameters.signature_uses import called_as

    doubts: list[str] = []
    for key, item in definitions.items():
        record = kin.members[key].record
        if item.unclear:
            said = listed([f"@{word}" for node in item.nodes for word, decorator in decorators_of(node) if decorator in item.unclear])
            doubts.append(
                f"'{record.name}' stands under {said} at {record.path}:{record.line}, which may call it by its parameters or change them"
            )
        if record.is_test and record.name.startswith("test"):
            doubts.append(f"'{record.name}' is a test, which a runner calls by the names of its parameters")
        if scope.read(f"{record.path}i") is not None:
            doubts.append(f"'{record.path}i' declares it too, and stays as it is")
        if uses.elsewhere and rewritten(item.change, (), is_bound=True) != Rewritten():
            doubts.append(
                f"{listed([f'{place.path}:{place.line + 1}' for place in uses.elsewhere])} names what is called without arguments"
            )
    names = {name for item in definitions.values() for name in [*item.change.removed, *item.change.new_names]}
    told = {(site.path, offset) for site in sites if site.path in codes for offset in codes[site.path].keywords_at(site.place)}
    unseen = [
        (path, line, col)
        for path, line, col in keywords_of(index, list(definitions), names)
        if path not in codes or (path, codes[path].offset((line, col))) not in told
    ]
    called = {name for key in definitions for name in called_as(index, kin.members[key])}
    doubts += quoted_calls(index, called, {item.record.name for item in family.classes}, has_bases=family.has_bases)
    if unseen:
        doubts.append(
            f"a parameter is passed by its name at {listed([f'{path}:{line + 1}' for path, line, _ in unseen])}, where no call is known"
        )
    return doubts


def _gaps(index: Index, symbol: Symbol, kin: Kin) -> list[Reason]:
    """Why uses may be unknown, but for what is looked at by itself."""
    members = [symbol, *(item for key, item in kin.members.items() if key != symbol.sym_id)]
    known = Certificate(index).of_uses(members, "callers", DEFINITION)
    return [reason for reason in known.reasons if reason.code not in _LOOKED_AT]


def _said_of(found: _Made) -> list[str]:
    said: list[str] = []
    if found.changed.left:
        places = [f"{item.path}:{item.place[0] + 1}" for item in found.changed.left]
        said.append(f"uses stay that may not fit the new parameters: {listed(places)}")
    if found.unknown:
        said.append(f"uses may be left that are not known: {'; '.join(reason.detail for reason in found.unknown[:_TOLD])}")
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
