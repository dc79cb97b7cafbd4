"""Models of Django: managers and querysets, which the running program gives them, and what is taken of those (ADR 0123).

`Model.objects`, `Model.objects.filter(…)` and `part.whole.parts` are all a set of records (`Sort.RECORDS`): of the model, with the methods
of the class of the workspace that the model names as its manager, or that stands for its sets. No server follows them: Django makes them
while it runs. `indexer.store.flow.calls.models` says what calls of their methods, and of fields, give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from indexer.languages.django import is_model
from indexer.store.flow.text.program import Program
from indexer.store.flow.values.value import Sort

if TYPE_CHECKING:
    from indexer.store.flow.values.reading import Reading

_SETS = frozenset({"django.db.models.query.QuerySet", "django.db.models.manager.Manager", "django.db.models.manager.BaseManager"})
_QUERYSET = "django.db.models.query.QuerySet."
_VIEWS = ("django.views.generic.", "rest_framework.generics.", "rest_framework.viewsets.", "rest_framework.mixins.")

_IMPLIED = frozenset({"objects", "_default_manager", "_base_manager"})
"""Managers that a model has without naming them."""

_MAKING = frozenset({"as_manager", "from_queryset"})
OF_VIEWS = frozenset({"get_object", "object", "get_queryset", "object_list"})
"""What a view has of the model that it names."""


class Models:
    """The classes of a workspace that are models, sets of records, or views of them; none where nothing of Django is used."""

    def __init__(self, program: Program) -> None:
        outside = program.outside
        is_used = any(name.startswith("django.db.models.") for name in outside.values())
        self.models = _below(program, [number for number, name in outside.items() if is_model(name)] if is_used else [])
        self.sets = _below(program, [number for number, name in outside.items() if name in _SETS] if is_used else [])
        self.views = _below(program, [number for number, name in outside.items() if name.startswith(_VIEWS)] if self.models else [])
        self.provided = {name.removeprefix(_QUERYSET): number for number, name in outside.items() if name.startswith(_QUERYSET)}
        self.nodes: dict[tuple[int, str], int] = {}  # by value and name of what is taken of it
        self.sharing: dict[int, set[int]] = {}  # by class of sets the models that have it
        self.by_name: dict[str, list[int]] = {}
        for owner in sorted(self.models):
            self.by_name.setdefault(program.names[owner], []).append(owner)

    def __bool__(self) -> bool:
        return bool(self.models)

    def named(self, program: Program, name: str) -> int:
        """The model of a name, `Model` or `app.Model`, or -1: where several are called so, the one below a folder of the app's name."""
        app, _, last = name.rpartition(".")
        found = self.by_name.get(last, [])
        if len(found) > 1 and app:
            found = [owner for owner in found if f"/{app}/" in f"/{program.paths.get(_file_of(program, owner), '')}"]
        return found[0] if len(found) == 1 else -1


def _file_of(program: Program, sym_id: int) -> int:
    module = sym_id
    while program.containers[module] >= 0:
        module = program.containers[module]
    return next((doc for doc, each in program.modules.items() if each == module), -1)


def _below(program: Program, roots: Iterable[int]) -> frozenset[int]:
    """Classes of the workspace that inherit from one of these."""
    left = list(roots)
    subs: dict[int, list[int]] = {}
    if left:
        for sub, bases in program.bases.items():
            for base in bases:
                subs.setdefault(base, []).append(sub)
    found: set[int] = set()
    for base in left:
        new = [sub for sub in subs.get(base, ()) if sub not in found]
        found.update(new)
        left += new
    return frozenset(sub for sub in found if not program.is_outside(sub))


def load(solver: Reading, value: int, name: str, target: int, row: int, told_at: int) -> bool:
    """`value.name` goes to `target`, where Django has a say in it; whether nobody else is to be asked."""
    sort, first, _ = solver.values[value]
    known = solver.models
    if sort == Sort.RECORDS:
        _load_of_set(solver, value, name, target, row, told_at)
        return True
    if sort == Sort.CLASS and first in known.models:
        _once(solver, value, name, target, lambda node: _load_of_model(solver, first, name, node))
    elif sort == Sort.CLASS and first in known.sets and name in _MAKING:
        solver.graph.put(target, solver.method(name, value))
    elif sort == Sort.OBJECT and first in known.sets and solver.program.member(first, name) < 0:
        solver.graph.put(target, solver.method(name, solver.values.number(Sort.RECORDS, -1, first)))
    elif sort == Sort.OBJECT and first in known.views and name == "queryset" and (own := solver.program.member(first, name)) >= 0:
        # Each view has its own: what a class above sets in place of it is one of many others.
        solver.bind(solver.of_class(own), value, target)
        solver.graph.copy(solver.symbol(own), target)
        if row >= 0:
            solver.read[row, own] = None
        return True
    elif sort == Sort.OBJECT and first in known.views and name in OF_VIEWS and solver.program.member(first, name) < 0:
        if name.startswith("get_"):
            solver.graph.put(target, solver.method(name, value))
        else:
            _once(solver, value, name, target, lambda node: of_view(solver, first, name, node))
    return False


def _once(solver: Reading, value: int, name: str, target: int, begin: Callable[[int], None]) -> None:
    """What is the same for all places has one node."""
    node = solver.models.nodes.get((value, name))
    if node is None:
        node = solver.models.nodes[value, name] = solver.graph.node()
        begin(node)
    solver.graph.copy(node, target)


def _load_of_set(solver: Reading, value: int, name: str, target: int, row: int, told_at: int) -> None:
    program = solver.program
    _, model, owner = solver.values[value]
    member = program.member(owner, name) if owner >= 0 else -1
    if member < 0:
        if name == "model" and model >= 0:
            solver.graph.put(target, solver.values.number(Sort.CLASS, model))
            return
        solver.graph.put(target, solver.method(name, value))
        member = solver.models.provided.get(name, -1)
    if row >= 0 and member >= 0:
        solver.read[row, member] = None
    if member < 0 or program.is_outside(member):
        return
    if program.is_property(member):
        solver.run_property(member, value, target, row if row >= 0 else told_at)
    elif program.is_callable(member):
        solver.bind(solver.symbol(member), value, target)
    else:
        solver.graph.copy(solver.of_class(member), target)
        solver.graph.copy(solver.symbol(member), target)


def _load_of_model(solver: Reading, model: int, name: str, target: int) -> None:
    member = solver.program.member(model, name)
    if member >= 0 and solver.program.holds(member):
        as_sets(solver, model, solver.of_class(member), target)
    elif member < 0 and name in _IMPLIED:
        of_model(solver, model, target)


def of_model(solver: Reading, model: int, target: int) -> None:
    """The set of all records of a model, as its manager `objects` gives it."""
    member = solver.program.member(model, "objects")
    if member >= 0:
        as_sets(solver, model, solver.of_class(member), target)
    else:
        solver.graph.put(target, solver.values.number(Sort.RECORDS, model, -1))


def as_sets(solver: Reading, model: int, source: int, target: int) -> None:
    """Managers that a class names become sets of its own records: one manager may serve many models."""

    def made(value: int) -> None:
        sort, first, second = solver.values[value]
        if sort == Sort.OBJECT and first in solver.models.sets:
            solver.models.sharing.setdefault(first, set()).add(model)
            solver.graph.put(target, solver.values.number(Sort.RECORDS, model, first))
        elif sort == Sort.RECORDS and first < 0:
            solver.graph.put(target, solver.values.number(Sort.RECORDS, model, second))

    solver.graph.watch(source, made)


def of_view(solver: Reading, view: int, name: str, target: int) -> None:
    """The record, or the records, that a view shows: of its `model` or `queryset`."""
    program = solver.program

    def given(value: int) -> None:
        sort, first, _ = solver.values[value]
        if first in solver.models.models and sort in (Sort.CLASS, Sort.RECORDS):
            if name in ("get_object", "object"):
                solver.graph.put(target, solver.values.number(Sort.OBJECT, first))
            elif sort == Sort.RECORDS:
                solver.graph.put(target, value)
            else:
                of_model(solver, first, target)

    for attribute in ("model", "queryset"):
        member = program.member(view, attribute)
        if member >= 0 and program.holds(member):
            solver.graph.watch(solver.of_class(member), solver.once(given))
