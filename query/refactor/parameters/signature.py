"""The parameters of a function before and after a change, and what becomes of a call of it.

Nothing here knows a text: parameters have names, arguments have numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter as Kinds
from itertools import pairwise
from typing import NamedTuple

from indexer.errors import UsageError

POSITIONAL_ONLY, NORMAL, VARARGS = Kinds.POSITIONAL_ONLY, Kinds.POSITIONAL_OR_KEYWORD, Kinds.VAR_POSITIONAL
KEYWORD_ONLY, KWARGS = Kinds.KEYWORD_ONLY, Kinds.VAR_KEYWORD
_BY_PLACE = (POSITIONAL_ONLY, NORMAL)


class Parameter(NamedTuple):
    """`was`: its name before the change; None of one that is added."""

    name: str
    kind: int
    has_default: bool
    was: str | None = None


Signature = tuple[Parameter, ...]


class Added(NamedTuple):
    """A parameter to add. text: as the head of the function says it. is_keyword_only: where nothing else places it."""

    name: str
    text: str
    has_default: bool
    is_keyword_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to change, as it was asked for.

    given: by name of an added parameter what each call passes. after: the parameter behind which the added ones go; empty for the end of
    their kind. order: names, with `*` and `/` where other kinds begin.
    """

    added: tuple[Added, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    given: Mapping[str, str] = field(default_factory=dict[str, str])
    after: str = ""
    order: tuple[str, ...] = ()

    @property
    def named(self) -> set[str]:
        """Parameters that are there before and that it speaks of."""
        ordered = {name.lstrip("*") for name in self.order if name not in ("*", "/")} - {item.name for item in self.added}
        back = {new: old for old, new in self.renamed.items()}
        after = {self.after} - {""} - {item.name for item in self.added}
        return {*self.removed, *self.renamed, *(back.get(name, name) for name in ordered | after)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`bound`: whether the first parameter is the object or the class, which calls do not pass; it stays where it is."""

    before: Signature
    after: Signature
    given: Mapping[str, str]
    bound: bool

    @property
    def new_names(self) -> dict[str, str]:
        """Of what stays: by old name the new one, where it is another."""
        return {item.was: item.name for item in self.after if item.was is not None and item.was != item.name}

    @property
    def removed(self) -> list[str]:
        kept = {item.was for item in self.after}
        return [item.name for item in self.before if item.name not in kept]


def changed(before: Signature, wish: Wish, *, bound: bool) -> Change:
    """The parameters after a wish.

    Raises:
        UsageError: it cannot be had of these parameters.
    """
    known = {item.name: item for item in before}
    own = before[0].name if bound and before else ""
    for name in [*wish.removed, *wish.renamed]:
        if name not in known:
            raise UsageError(f"it has no parameter '{name}'; it has: {', '.join(known) or 'none'}")
        if name == own:
            raise UsageError(f"'{name}' is the object or the class that it belongs to, and stays as it is")
    if both := sorted({*wish.removed} & wish.renamed.keys()):
        raise UsageError(f"'{both[0]}' is to be removed and renamed; say one of the two")
    kept = [item._replace(name=wish.renamed.get(item.name, item.name), was=item.name) for item in before if item.name not in wish.removed]
    _check_given(wish)
    after = _ordered(_with_added(kept, wish), wish, own)
    names = [item.name for item in after]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"two parameters would be called '{twice[0]}'")
    _check_defaults(after, wish)
    return Change(before=before, after=after, given=wish.given, bound=bound)


def _check_given(wish: Wish) -> None:
    added = {item.name for item in wish.added}
    if unknown := sorted(wish.given.keys() - added):
        raise UsageError(f"'{unknown[0]}' is not added, so what calls pass for it is not changed")
    for item in wish.added:
        if not item.has_default and item.name not in wish.given:
            raise UsageError(
                f"'{item.name}' has no default, so every call would fail: give it one (add '{item.text} = …'), or say what calls pass: "
                f"call_with '{item.name}=…'"
            )


def _with_added(kept: list[Parameter], wish: Wish) -> list[Parameter]:
    found = list(kept)
    if not wish.added:
        return found
    if wish.after:
        named = [number for number, item in enumerate(found) if wish.after in (item.name, item.was)]
        if not named:
            raise UsageError(f"there is no parameter '{wish.after}' to add one after")
        at = named[0] + 1
        kind = found[at - 1].kind
        if kind == KWARGS:
            raise UsageError(f"nothing can stand after '**{wish.after}'")
        kind = KEYWORD_ONLY if kind == VARARGS else kind
        made = [Parameter(item.name, KEYWORD_ONLY if item.is_keyword_only else kind, item.has_default) for item in wish.added]
        return [*found[:at], *made, *found[at:]]
    takes_more = any(item.kind == VARARGS for item in found)
    for item in wish.added:
        kind = KEYWORD_ONLY if item.is_keyword_only or takes_more else NORMAL
        fitting = [number for number, other in enumerate(found) if other.kind <= kind]
        if kind == NORMAL and not item.has_default:  # one without a default goes before those with one
            fitting = [number for number in fitting if not found[number].has_default]
            if any(other.kind == POSITIONAL_ONLY and other.has_default for other in found):
                kind = POSITIONAL_ONLY
        at = fitting[-1] + 1 if fitting else 0
        if kind == NORMAL and any(other.kind == POSITIONAL_ONLY for other in found[at:]):
            kind = POSITIONAL_ONLY
        found.insert(at, Parameter(item.name, kind, item.has_default))
    return found


def _ordered(found: list[Parameter], wish: Wish, own: str) -> Signature:
    if not wish.order:
        return tuple(found)
    words = [word for word in wish.order if not (word == own and own)]
    marks = [word for word in words if word in ("*", "/")]
    names = [word.lstrip("*") for word in words if word not in ("*", "/")]
    by_name = {item.name: item for item in found if item.name != own} | {item.was: item for item in found if item.was and item.was != own}
    for name in names:
        if name not in by_name:
            raise UsageError(f"the order names '{name}', which is no parameter; there are: {', '.join(item.name for item in found)}")
    told = [by_name[name] for name in names]
    left = [item for item in found if item not in told and item.name != own]
    if any(item.kind not in (VARARGS, KWARGS) for item in left):
        missing = ", ".join(item.name for item in left if item.kind not in (VARARGS, KWARGS))
        raise UsageError(f"the order leaves out {missing}; say all parameters, with the names that they will have")
    head = [item for item in found if item.name == own and own]
    if marks or any(word.startswith("*") for word in words):
        told = _of_kinds(words, by_name)
    if any(item.kind == POSITIONAL_ONLY for item in told):
        head = [item._replace(kind=POSITIONAL_ONLY) for item in head]
    placed = [*head, *told]
    for item in sorted(left, key=lambda item: item.kind):  # `*args` and `**kwargs` that the order does not say
        at = next((number for number, other in enumerate(placed) if other.kind > item.kind), len(placed))
        placed.insert(at, item)
    kinds = [item.kind for item in placed]
    if kinds != sorted(kinds):
        wrong = next(second for first, second in pairwise(placed) if first.kind > second.kind)
        raise UsageError(
            f"'{wrong.name}' cannot stand there, as it is passed in another way than what is before it; say `*` or `/` in the order "
            "where those begin"
        )
    return tuple(placed)


def _of_kinds(words: Sequence[str], by_name: Mapping[str, Parameter]) -> list[Parameter]:
    """Parameters with the kinds that the marks of an order give them."""
    found: list[Parameter] = []
    kind: int = POSITIONAL_ONLY if "/" in words else NORMAL
    for word in words:
        if word == "/":
            kind = NORMAL
        elif word == "*":
            kind = KEYWORD_ONLY
        else:
            item = by_name[word.lstrip("*")]
            if item.kind in (VARARGS, KWARGS):
                found.append(item)
                kind = KEYWORD_ONLY
            else:
                found.append(item._replace(kind=kind))
    return found


def _check_defaults(after: Signature, wish: Wish) -> None:
    seen = ""
    for item in after:
        if item.kind in _BY_PLACE:
            if item.has_default:
                seen = seen or item.name
            elif seen:
                added = {one.name for one in wish.added}
                what = f"a default for '{item.name}'" if item.name in added else f"'{item.name}' before '{seen}', or '{seen}' keyword-only"
                raise UsageError(f"'{item.name}' has no default and would stand after '{seen}', which has one; say {what}")


# ---- calls


class Argument(NamedTuple):
    """An argument of a call. name: of a keyword; `*` and `**` of one that holds several.

    acts: whether it may have an effect. reads: whether it may see one. (`f(x.a, g())`)
    """

    name: str = ""
    acts: bool = False
    reads: bool = False


UNKNOWN_CALL = (Argument("*"), Argument("**"))
"""Whatever is passed: of a function that is handed over."""


class Passed(NamedTuple):
    """An argument after the change: the number of the one that it was, or the text of a new one; `name` where it is passed by keyword."""

    number: int | None
    name: str = ""
    text: str = ""


class Rewritten(NamedTuple):
    """arguments: None where the call stays as it is. dropped: numbers of arguments that go and may have had an effect.

    why: the reason why nobody can tell what becomes of the call; empty where that is known. is_unfit: it could not be a call of it before.
    """

    arguments: list[Passed] | None = None
    dropped: tuple[int, ...] = ()
    why: str = ""
    is_unfit: bool = False


class _Unknown(Exception):
    """What becomes of a call cannot be told."""


class _Unfit(_Unknown):
    """The call does not fit the parameters as they are."""


def rewritten(change: Change, arguments: Sequence[Argument], *, is_bound: bool) -> Rewritten:
    """What becomes of a call.

    Args:
        is_bound: whether the first parameter is not among the arguments: `x.m(…)`, not `C.m(x, …)`.
    """
    skip = 1 if is_bound and change.bound else 0
    try:
        found = _Call(change, arguments, skip).rewritten(by_keyword=False)
        if found is not None and _is_reordered(found, arguments):
            found = _Call(change, arguments, skip).rewritten(by_keyword=True)
            if found is not None and _is_reordered(found, arguments):
                raise _Unknown("its arguments would be evaluated in another order, and that may matter")
    except _Unknown as unknown:
        return Rewritten(why=str(unknown), is_unfit=isinstance(unknown, _Unfit))
    if found is None:
        return Rewritten()
    kept = {item.number for item in found}
    return Rewritten(found, tuple(number for number, item in enumerate(arguments) if item.acts and number not in kept))


def is_compatible(change: Change, *, is_bound: bool = True) -> bool:
    """Whether every call that could be made before can be made as it is, and means the same."""
    return rewritten(change, UNKNOWN_CALL, is_bound=is_bound) == Rewritten()


def _is_reordered(found: Sequence[Passed], arguments: Sequence[Argument]) -> bool:
    """Whether one that may have an effect comes before or behind one that may see it, and did not."""
    numbers = [item.number for item in found if item.number is not None]
    return any(
        (arguments[first].acts and (arguments[second].acts or arguments[second].reads))
        or (arguments[first].reads and arguments[second].acts)
        for at, first in enumerate(numbers)
        for second in numbers[at + 1 :]
        if first > second
    )


class _Call:
    """A call held against the parameters as they are.

    Attributes:
        values: by old name of a parameter the number of its argument. more: numbers of what `*args` and `**kwargs` take.
    """

    def __init__(self, change: Change, arguments: Sequence[Argument], skip: int) -> None:
        self._change, self._arguments = change, arguments
        self._old = [item for item in change.before if item.kind in _BY_PLACE][skip:]
        self._new = [item for item in change.after if item.kind in _BY_PLACE][skip:]
        self._kinds = {item.kind for item in change.before}
        self._star = next((number for number, item in enumerate(arguments) if item.name == "*"), None)
        self._doubles = [number for number, item in enumerate(arguments) if item.name == "**"]
        self._by_place: dict[str, int] = {}
        self._by_name: dict[str, int] = {}
        self._extra: list[int] = []
        self._named_extra: list[int] = []
        self._bind()

    def _bind(self) -> None:
        places = [number for number, item in enumerate(self._arguments) if item.name == ""]
        if self._star is not None:
            places = [number for number in places if number < self._star]
        for at, number in enumerate(places):
            if at < len(self._old):
                self._by_place[self._old[at].name] = number
            elif VARARGS in self._kinds:
                self._extra.append(number)
            else:
                raise _Unfit("it passes more than the function takes")
        takes = {item.name for item in self._change.before if item.kind in (NORMAL, KEYWORD_ONLY)}
        for number, item in enumerate(self._arguments):
            if item.name in ("", "*", "**"):
                continue
            if item.name in takes and item.name not in self._by_place:
                self._by_name[item.name] = number
            elif KWARGS in self._kinds and item.name not in takes:
                self._named_extra.append(number)
            else:
                raise _Unfit(f"it passes '{item.name}', which the function does not take so")
        if self._star is None and not self._doubles:
            values = {*self._by_place, *self._by_name}
            required = [item for item in self._change.before if item.kind in (*_BY_PLACE, KEYWORD_ONLY) and not item.has_default]
            skipped = {item.name for item in self._change.before if item.kind in _BY_PLACE} - {item.name for item in self._old}
            if missing := [item.name for item in required if item.name not in values | skipped]:
                raise _Unfit(f"it does not pass '{missing[0]}', which the function asks for")

    # ---- after the change

    def rewritten(self, *, by_keyword: bool) -> list[Passed] | None:
        """The arguments, or None where they stay.

        Args:
            by_keyword: what does not stay in its place is passed by keyword, so that all is evaluated in the old order.
        """
        self._check_splats()
        takes_all = KWARGS in {item.kind for item in self._change.after}
        placed, named = self._placed(by_keyword=by_keyword)
        new_name = {item.was: item.name for item in self._change.after if item.was is not None}
        captured = {item.name for item in self._change.after if item.was is None}
        for number in self._named_extra:
            name = self._arguments[number].name
            if not takes_all:
                raise _Unknown(f"it passes '{name}', which nothing would take")
            if name in captured or (name in self._change.new_names.values()):
                raise _Unknown(f"it passes '{name}' among its further keywords")
        kept_names = {old: new_name[old] for old in self._by_name if old in new_name}
        moved_to_place = {item.number for item in placed}
        keywords: list[tuple[int, Passed]] = [(item.number, item) for item in named if item.number is not None]
        keywords += [
            (number, Passed(number, kept_names[old]))
            for old, number in self._by_name.items()
            if old in kept_names and number not in moved_to_place
        ]
        keywords += [(number, Passed(number, self._arguments[number].name)) for number in [*self._named_extra, *self._doubles]]
        result = [*placed, *(item for _, item in sorted(keywords)), *(item for item in named if item.number is None)]
        old = [Passed(number, item.name) for number, item in enumerate(self._arguments)]
        return None if sorted(old, key=_by_number) == sorted(result, key=_by_number) and self._same_order(result) else result

    @staticmethod
    def _same_order(result: Sequence[Passed]) -> bool:
        """By place: keywords stay where they are, before or behind `*more`."""
        places = [item.number or 0 for item in result if item.name in ("", "*")]
        return places == sorted(places)

    def _check_splats(self) -> None:
        old, new = self._old, self._new
        if self._star is not None:
            at = sum(1 for item in self._arguments[: self._star] if item.name == "")
            same = [item.name for item in old[at:]] == [item.was for item in new[at : len(old)]]
            more = new[len(old) :]
            vararg_stays = {item.was for item in self._change.after if item.kind == VARARGS} == {
                item.name for item in self._change.before if item.kind == VARARGS
            }
            grows = any(item.was is not None for item in more) or (bool(more) and VARARGS in self._kinds)
            front = {item.name for item in old[:at]} == {item.was for item in new[:at]}
            named = any(item.kind == POSITIONAL_ONLY and item.was in self._by_name for item in new[at:])
            if not same or not front or grows or named or not vararg_stays:
                raise _Unknown("what '*' holds would be taken for other parameters")
        if self._doubles:
            passed = {*self._by_place, *self._by_name}
            covered = {item.name for item in old[: self._star or 0]} if self._star is not None else set[str]()
            can = {item.name for item in self._change.before if item.kind in (NORMAL, KEYWORD_ONLY)} - passed - covered
            after = {item.was: item for item in self._change.after if item.was is not None}
            for name in sorted(can):
                if name not in after or after[name].name != name or after[name].kind == POSITIONAL_ONLY:
                    raise _Unknown(f"what '**' holds may have '{name}' in it")
            if KWARGS in self._kinds:
                taken = {item.name for item in self._change.after if item.kind in (NORMAL, KEYWORD_ONLY)} - {
                    item.name for item in self._change.before if item.kind in (NORMAL, KEYWORD_ONLY)
                }
                if taken:
                    raise _Unknown(f"what '**' holds may have '{min(taken)}' in it")
                if KWARGS not in {item.kind for item in self._change.after}:
                    raise _Unknown("what '**' holds would have no place")

    def _placed(self, *, by_keyword: bool) -> tuple[list[Passed], list[Passed]]:
        """What is passed by place, and what is passed by keyword and was not, or is new."""
        placed: list[Passed] = []
        named: list[Passed] = []
        is_open = True
        needs_all = bool(self._extra) or self._star is not None
        old_place = {item.name: at for at, item in enumerate(self._old)}
        last = max((at for at, item in enumerate(self._new) if item.was in self._by_place), default=-1)
        star_at = sum(1 for item in self._arguments[: self._star] if item.name == "") if self._star is not None else None
        for at, item in enumerate(self._new):
            if star_at is not None and at >= star_at:
                break
            number = self._by_place.get(item.was) if item.was is not None else None
            text = self._change.given.get(item.name) if item.was is None else None
            if number is None and item.was is not None and item.kind == POSITIONAL_ONLY:
                number = self._by_name.get(item.was)
            if number is not None and by_keyword and old_place.get(item.was or "") != at:
                is_open = False
            if number is not None:
                if is_open:
                    placed.append(Passed(number))
                elif item.kind == POSITIONAL_ONLY or needs_all:
                    raise _Unknown(f"'{item.name}' could not be passed by keyword")
                else:
                    named.append(Passed(number, item.name))
            elif text is not None:
                if is_open and (at < last or item.kind == POSITIONAL_ONLY or needs_all):
                    placed.append(Passed(None, "", text))
                elif item.kind == POSITIONAL_ONLY:
                    raise _Unknown(f"'{item.name}' could not be passed by keyword")
                else:
                    named.append(Passed(None, item.name, text))
                    is_open = False
            else:
                is_open = False
        if star_at is not None:
            if len(placed) != min(star_at, len(self._old)):
                raise _Unknown("what '*' holds would be taken for other parameters")
            named += [
                Passed(None, item.name, self._change.given[item.name])
                for item in self._new[star_at:]
                if item.was is None and item.name in self._change.given
            ]
        stay_open = is_open or not self._new
        if self._extra:
            if not stay_open or VARARGS not in {item.kind for item in self._change.after}:
                raise _Unknown("what '*args' takes would be taken for other parameters")
            placed += [Passed(number) for number in self._extra]
        if self._star is not None:
            rest = [number for number, item in enumerate(self._arguments) if number >= self._star and item.name in ("", "*")]
            placed += [Passed(number, self._arguments[number].name) for number in rest]
        for item in self._change.after:
            if item.kind == KEYWORD_ONLY:
                if item.was is None and item.name in self._change.given:
                    named.append(Passed(None, item.name, self._change.given[item.name]))
                elif item.was in self._by_place:
                    named.append(Passed(self._by_place[item.was], item.name))
        return placed, named


def _by_number(item: Passed) -> tuple[int, str]:
    return (-1 if item.number is None else item.number), item.name
