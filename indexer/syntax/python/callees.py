"""Functions of the language that only look at what they are given, or call it at once: its value goes no further than to them.

By their names as written, since only the text is known here. A name is listed if no project gives it to something of another kind.
"""

from __future__ import annotations

from typing import NamedTuple

from indexer.syntax.python.roles import ARGUMENT, CONFINED, READ


class Callee(NamedTuple):
    """What becomes of the arguments of a function.

    looked_at: places of arguments that are looked at only; empty: all of them.
    called: places and keywords of arguments that it calls and hands to nobody.
    alone: what is said holds for a call with one argument only.
    """

    looked_at: tuple[int, ...] = ()
    called: tuple[int | bytes, ...] = ()
    alone: bool = False

    def role(self, place: int | bytes, given: int) -> int:
        """The roles of the name that stands as argument at a place, or after a keyword, of so many."""
        if place in self.called:
            return READ | ARGUMENT | CONFINED
        if self.called or (self.alone and given > 1) or (self.looked_at and place not in self.looked_at):
            return READ | ARGUMENT
        return READ | CONFINED


_LOOKS = Callee()
_LOOKS_AT_FIRST = Callee(looked_at=(0,))
_LOOKS_AT_SECOND = Callee(looked_at=(1,))
_BY_KEY = Callee(called=(b"key",))
_FIRST = Callee(called=(0, b"func"))
_SECOND = Callee(called=(1, b"function"))
_CATEGORY = Callee(called=(1, b"category"))
_TARGET = Callee(called=(b"target",))

CALLEES: dict[bytes, Callee] = {
    **dict.fromkeys((b"isinstance", b"issubclass", b"callable", b"id", b"hash", b"len", b"repr", b"str", b"bool"), _LOOKS),
    **dict.fromkeys((b"dir", b"vars", b"hasattr", b"super", b"print", b"format", b"ascii"), _LOOKS),
    b"type": Callee(alone=True),  # with three arguments it makes a class of its bases
    **dict.fromkeys((b"wraps", b"functools.wraps"), _LOOKS),  # who is decorated with it has the function already
    **dict.fromkeys((b"update_wrapper", b"functools.update_wrapper"), _LOOKS_AT_SECOND),  # it returns the first
    **dict.fromkeys((b"inspect.signature", b"inspect.isclass", b"inspect.isfunction", b"inspect.iscoroutinefunction"), _LOOKS),
    **dict.fromkeys((b"asyncio.iscoroutinefunction", b"inspect.getdoc", b"inspect.getsource"), _LOOKS),
    **dict.fromkeys((b"getattr", b"setattr", b"delattr"), _LOOKS_AT_FIRST),
    **dict.fromkeys((b"cast", b"typing.cast", b"t.cast"), _LOOKS_AT_FIRST),
    **dict.fromkeys((b"sorted", b"min", b"max"), _BY_KEY),
    **dict.fromkeys((b"map", b"filter", b"reduce", b"functools.reduce", b"itertools.starmap", b"itertools.takewhile"), _FIRST),
    **dict.fromkeys((b"itertools.dropwhile", b"itertools.filterfalse", b"asyncio.to_thread", b"atexit.register"), _FIRST),
    **dict.fromkeys((b"re.sub", b"re.subn", b"signal.signal", b"threading.Timer", b"Timer", b"itertools.groupby"), _SECOND),
    **dict.fromkeys((b"warnings.warn", b"warn"), _CATEGORY),
    **dict.fromkeys((b"threading.Thread", b"Thread", b"multiprocessing.Process", b"Process"), _TARGET),
}
