"""Classes that are a kind of what the language provides: one below `list` or `dict` holds what its methods put into it, one below `type`
makes classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.store.flow.values.value import Sort

if TYPE_CHECKING:
    from indexer.store.flow.values.nodes import Nodes

OF_OBJECT = frozenset({"__new__", "__init__", "__init_subclass__", "__repr__", "__str__", "__eq__", "__hash__", "__setattr__"})
"""What each class has of `object`, before its metaclass is asked."""

MADE = "(made)"
"""No attribute: the classes that a metaclass makes, of which those below another one are told by that."""


_MAPPINGS = frozenset(
    {
        *("builtins.dict", "collections.OrderedDict", "collections.defaultdict", "collections.UserDict", "collections.abc.MutableMapping"),
        *("weakref.WeakValueDictionary", "weakref.WeakKeyDictionary", "typing.MutableMapping"),
    }
)
_HOLDING = _MAPPINGS | frozenset(
    {
        *("builtins.list", "builtins.set", "builtins.tuple", "collections.UserList", "collections.deque"),
        *("queue.Queue", "queue.LifoQueue", "queue.PriorityQueue", "asyncio.queues.Queue"),
    }
)


def held_by(solver: Nodes, owner: int) -> int:
    """The container of all that objects of a class hold because it is a kind of list, set or mapping; -1 for none."""
    known = solver.held_by_kind.get(owner)
    if known is None:
        program = solver.program
        names = {program.outside[base] for base in program.order(owner) if base in program.outside} & _HOLDING
        known = solver.container(("kind", owner), is_mapping=not names.isdisjoint(_MAPPINGS)) if names else -1
        solver.held_by_kind[owner] = known
    return known


def of_super(solver: Nodes, owner: int, receiver: int, name: str, target: int) -> None:
    """`super().name` where no class of the workspace above `owner` has that.

    Args:
        receiver: value of the object, or class, that the method is called on.
    """
    sort, first, _ = solver.values[receiver]
    if sort == Sort.OBJECT and (held := held_by(solver, owner)) >= 0:
        solver.graph.put(target, solver.method(name, held if owner == first else held_by(solver, first)))
    elif sort == Sort.CLASS and name == "__new__" and is_metaclass(solver, owner):
        solver.graph.put(target, solver.values.number(Sort.MAKER, first))
    elif sort == Sort.CLASS and name == "__call__" and is_metaclass(solver, owner):
        solver.graph.put(target, solver.values.number(Sort.MADE_BY, first))


def is_metaclass(solver: Nodes, owner: int) -> bool:
    return any(solver.program.outside.get(base, "") == "builtins.type" for base in solver.program.order(owner))


def members_by_name(solver: Nodes, owner: int) -> int:
    """The mapping of what the text of a class says: functions there are given no object."""
    program = solver.program
    made = solver.container(("members", owner), is_mapping=True)
    solver.by_name.add(solver.values[made].first)
    for name, member in program.members.get(owner, {}).items():
        slot = solver.slot(made, "s" + name)
        if program.is_type(member):
            solver.graph.put(slot, solver.values.number(Sort.CLASS, member))
        elif not program.is_property(member):
            solver.graph.copy(solver.symbol(member) if program.is_callable(member) else solver.of_class(member), slot)
    return made


def globals_by_name(solver: Nodes, module: int) -> int:
    """What `globals()` gives: what the text of a module defines by name."""
    program = solver.program
    made = solver.container(("globals", module), is_mapping=True)
    solver.by_name.add(solver.values[made].first)
    if module not in solver.opened:
        solver.opened.add(module)
        for number, container in enumerate(program.containers):
            if container == module and not program.is_outside(number):
                slot = solver.slot(made, "s" + program.names[number])
                if program.is_type(number):
                    solver.graph.put(slot, solver.values.number(Sort.CLASS, number))
                else:
                    solver.graph.copy(solver.symbol(number), slot)
    return made
