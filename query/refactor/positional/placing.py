"""Parameters that are passed by place, before and after a change, and what becomes of a call.

Nothing here knows a text: parameters have names, arguments have numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from indexer.errors import UsageError
from query.refactor.parameters.signature import Wish


class Parameter(NamedTuple):
    """One parameter. was: its number before the change; None of one that is added.

    is_rest: takes all that is left. is_optional: a call may leave it out. may_follow: a required one may stand behind it all the same
    (`b = 1` of TypeScript, but not `b?`). text: of an added one, as the head will say it.
    """

    name: str
    is_rest: bool = False
    is_optional: bool = False
    may_follow: bool = False
    was: int | None = None
    text: str = ""


class Rules(NamedTuple):
    """What a language asks for. filler: passed in the place of what a call leaves out; empty where nothing can be.

    spreads_results: a call as the only argument may stand for several (`f(g())` of Go).
    """

    filler: str = ""
    spreads_results: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """given: by name of an added parameter what each call passes."""

    before: tuple[Parameter, ...]
    after: tuple[Parameter, ...]
    given: Mapping[str, str]

    @property
    def new_names(self) -> dict[int, str]:
        """Of what stays: by old number the new name, where it is another."""
        return {item.was: item.name for item in self.after if item.was is not None and item.name != self.before[item.was].name}

    @property
    def removed(self) -> list[int]:
        kept = {item.was for item in self.after}
        return [number for number in range(len(self.before)) if number not in kept]

    @property
    def is_same_shape(self) -> bool:
        """Whether nothing but names changes, which no call says."""
        return [item.was for item in self.after] == list(range(len(self.before)))


def changed(before: Sequence[Parameter], wish: Wish, added: Sequence[Parameter], *, may_leave_out: bool) -> Change:
    """The parameters after a wish.

    Args:
        may_leave_out: whether calls may leave out what has no default.
    Raises:
        UsageError: it cannot be had of these parameters.
    """
    known = {item.name: number for number, item in enumerate(before)}
    for name in [*wish.removed, *wish.renamed]:
        if name not in known:
            raise UsageError(f"it has no parameter '{name}'; it has: {', '.join(known) or 'none'}")
    if both := sorted({*wish.removed} & wish.renamed.keys()):
        raise UsageError(f"'{both[0]}' is to be removed and renamed; say one of the two")
    if unknown := sorted(wish.given.keys() - {item.name for item in added}):
        raise UsageError(f"'{unknown[0]}' is not added, so what calls pass for it is not changed")
    for item in added:
        if not (item.is_optional or item.is_rest or item.name in wish.given):
            way = "give it a default, or say what calls pass" if may_leave_out else "say what calls pass"
            raise UsageError(f"'{item.name}' would be missing in every call: {way}: call_with '{item.name}=…'")
    kept = [
        item._replace(name=wish.renamed.get(item.name, item.name), was=n) for n, item in enumerate(before) if item.name not in wish.removed
    ]
    after = _ordered(_with_added(kept, added, wish.after), wish.order)
    names = [item.name for item in after if item.name != "_"]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"two parameters would be called '{twice[0]}'")
    if rests := [item for item in after[:-1] if item.is_rest]:
        raise UsageError(f"'{rests[0].name}' takes all that is left, so nothing can stand behind it")
    seen = ""
    for item in after:
        if item.is_optional and not item.may_follow:
            seen = seen or item.name
        elif seen and not item.is_optional and not item.is_rest:
            raise UsageError(f"'{item.name}' has no default and would stand after '{seen}', which may be left out; say another order")
    return Change(before=tuple(before), after=tuple(after), given=wish.given)


def _with_added(kept: list[Parameter], added: Sequence[Parameter], after: str) -> list[Parameter]:
    found = list(kept)
    if not added:
        return found
    if after:
        named = [number for number, item in enumerate(found) if item.name == after]
        if not named:
            raise UsageError(f"there is no parameter '{after}' to add one after; there are: {', '.join(item.name for item in found)}")
        return [*found[: named[0] + 1], *added, *found[named[0] + 1 :]]
    for item in added:
        at = len(found)
        if not item.is_rest and found and found[-1].is_rest:
            at -= 1
        if not item.is_optional and not item.is_rest:
            while at and found[at - 1].is_optional and found[at - 1].was is not None:
                at -= 1
        found.insert(at, item)
    return found


def _ordered(found: list[Parameter], order: Sequence[str]) -> list[Parameter]:
    if not order:
        return found
    by_name = {item.name: item for item in found}
    words = [word.removeprefix("...") for word in order]
    for word in words:
        if word not in by_name:
            raise UsageError(f"the order names '{word}', which is no parameter; there are: {', '.join(by_name)}")
    if missing := [item.name for item in found if item.name not in words]:
        raise UsageError(f"the order leaves out {', '.join(missing)}; say all parameters, with the names that they will have")
    if len(set(words)) != len(words):
        raise UsageError("the order says a parameter twice")
    return [by_name[word] for word in words]


def as_of(other: Sequence[Parameter], change: Change, *, may_take_fewer: bool) -> Change | None:
    """The same change of a function that stands for the one that is meant: by number, under its own names.

    None: it has other parameters.
    """
    main = change.before
    if len(other) > len(main) or (len(other) < len(main) and not may_take_fewer):
        return None
    if [item.is_rest for item in other] != [item.is_rest for item in main[: len(other)]]:
        return None
    after: list[Parameter] = []
    for place, item in enumerate(change.after):
        if item.was is None:
            after.append(item)
        elif item.was < len(other):
            own = other[item.was]
            is_renamed = item.name != main[item.was].name and own.name == main[item.was].name
            after.append(own._replace(was=item.was, name=item.name if is_renamed else own.name))
        elif all(later.was is None or later.was >= len(other) for later in change.after[place:]):
            break  # it takes none of what is left, before and after
        else:
            return None
    names = [item.name for item in after if item.name not in ("", "_")]
    if len(set(names)) != len(names):
        return None
    return Change(before=tuple(other), after=tuple(after), given=change.given)


# ---- calls


class Argument(NamedTuple):
    """An argument of a call. acts: whether it may have an effect; reads: whether it may see one. is_call: it is a call and nothing else."""

    is_spread: bool = False
    acts: bool = False
    reads: bool = False
    is_call: bool = False


class Passed(NamedTuple):
    """An argument after the change: the number of the one that it was, or the text of a new one."""

    number: int | None
    text: str = ""


class Rewritten(NamedTuple):
    """arguments: None where the call stays as it is. dropped: numbers of arguments that go.

    why: the reason why nobody can tell what becomes of the call; empty where that is known.
    """

    arguments: tuple[Passed, ...] | None = None
    dropped: tuple[int, ...] = ()
    why: str = ""


class _UnknownError(Exception):
    """What becomes of a call cannot be told."""


def rewritten(change: Change, arguments: Sequence[Argument], rules: Rules) -> Rewritten:
    """What becomes of a call."""
    if change.is_same_shape:
        return Rewritten()
    try:
        found = _placed(change, arguments, rules)
    except _UnknownError as unknown:
        return Rewritten(why=str(unknown))
    numbers = [item.number for item in found]
    if numbers == list(range(len(arguments))):
        return Rewritten()
    if _is_reordered([number for number in numbers if number is not None], arguments):
        return Rewritten(why="its arguments would be evaluated in another order, and that may matter")
    return Rewritten(tuple(found), tuple(number for number in range(len(arguments)) if number not in numbers))


def _is_reordered(numbers: Sequence[int], arguments: Sequence[Argument]) -> bool:
    return any(
        first > second
        and (
            (arguments[first].acts and (arguments[second].acts or arguments[second].reads))
            or (arguments[first].reads and arguments[second].acts)
        )
        for at, first in enumerate(numbers)
        for second in numbers[at + 1 :]
    )


def _placed(change: Change, arguments: Sequence[Argument], rules: Rules) -> list[Passed]:
    before = change.before
    has_rest = bool(before) and before[-1].is_rest
    normal = len(before) - has_rest
    if rules.spreads_results and len(arguments) == 1 and arguments[0].is_call and not arguments[0].is_spread and len(before) > 1:
        raise _UnknownError("what one call gives is passed as all its arguments")
    star = next((number for number, item in enumerate(arguments) if item.is_spread), None)
    if star is not None:
        return _with_star(change, arguments, star, normal, rules)
    if len(arguments) > normal and not has_rest:
        raise _UnknownError("it passes more than the function takes")
    if not rules.filler and len(arguments) < normal:
        raise _UnknownError("it passes fewer than the function takes")
    return _filled(change, change.after, dict(enumerate(range(min(len(arguments), normal)))), list(range(normal, len(arguments))), rules)


def _with_star(change: Change, arguments: Sequence[Argument], star: int, normal: int, rules: Rules) -> list[Passed]:
    """A call with elements of unknown number, which go where they went: what takes them stands last, as it did."""
    at = min(star, normal)
    tail = list(range(at, len(change.before)))
    numbers = [item.was for item in change.after]
    if not tail or numbers[len(numbers) - len(tail) :] != tail:
        raise _UnknownError("what is spread there would be taken for other parameters")
    head = change.after[: len(numbers) - len(tail)]
    found = _filled(change, head, {number: number for number in range(at)}, [], rules, is_full=True)
    return [*found, *(Passed(number) for number in range(at, len(arguments)))]


def _filled(
    change: Change, after: Sequence[Parameter], values: Mapping[int, int], more: Sequence[int], rules: Rules, *, is_full: bool = False
) -> list[Passed]:
    """`values`: by old number of a parameter that of its argument. more: what the rest takes. is_full: nothing may be left out."""
    found: list[Passed] = []
    gaps = 0
    for item in after:
        if item.is_rest:
            given = change.given.get(item.name, "") if item.was is None else ""
            passed = [Passed(number) for number in more] if item.was is not None else [Passed(None, given)] if given else []
        elif item.was is not None:
            passed = [Passed(values[item.was])] if item.was in values else []
        else:
            passed = [Passed(None, change.given[item.name])] if item.name in change.given else []
        if not passed:
            gaps += not item.is_rest
            continue
        if gaps and not rules.filler:
            raise _UnknownError("it leaves out what would have to be passed")
        found += [Passed(None, rules.filler)] * gaps
        gaps = 0
        found += passed
    if is_full and gaps:
        found += [Passed(None, rules.filler)] * gaps
    return found
