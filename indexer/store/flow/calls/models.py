"""What calls give that have to do with models of Django: methods of sets of records, fields that hold other records (ADR 0123)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from indexer.store.flow.calls.operations import collected, invoke
from indexer.store.flow.values import records
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_Handler = Callable[[Solver, Site], None]

_SAME = frozenset(
    {
        *("all", "filter", "exclude", "order_by", "reverse", "distinct", "annotate", "alias", "select_related", "prefetch_related"),
        *("defer", "only", "using", "db_manager", "extra", "select_for_update", "none", "union", "intersection", "difference"),
        *("complex_filter", "get_queryset", "iterator", "aiterator", "raw", "_clone", "_chain", "dates", "__iter__"),
    }
)
"""Methods that give a set of the same records."""

_ONE = frozenset(
    name for known in ("get", "first", "last", "earliest", "latest", "create", "__getitem__", "__next__") for name in (known, f"a{known}")
)
_WITH_MORE = frozenset({"get_or_create", "update_or_create", "aget_or_create", "aupdate_or_create"})
_LISTS = frozenset({"bulk_create", "abulk_create"})
_MAPPINGS = frozenset({"in_bulk", "ain_bulk"})
_BY_FIELDS = frozenset({"filter", "exclude", "update", "aupdate"}) | _ONE | _WITH_MORE
"""Methods whose keywords are names of fields; those with more than a name (`part__size`) are no field's own."""


def is_of_models(solver: Solver, holder: int) -> bool:
    """Whether a method is taken of what this module knows."""
    return bool(solver.models) and solver.values[holder].sort in (Sort.RECORDS, Sort.CLASS, Sort.OBJECT)


def of_models(solver: Solver, site: Site, name: str, holder: int) -> None:
    """`holder.name(…)`: of a set of records, of a class of such, of a view."""
    sort, first, _ = solver.values[holder]
    if sort == Sort.RECORDS:
        _of_set(solver, site, name, holder)
    elif sort == Sort.OBJECT:
        records.of_view(solver, first, name, site.result)
    elif name == "as_manager":
        solver.graph.put(site.result, solver.values.number(Sort.OBJECT, first))
    else:  # `Manager.from_queryset(Set)`: a class with the methods of both
        solver.graph.put(site.result, holder)
        for source in site.given[:1]:
            solver.graph.copy(source, site.result)


def _of_set(solver: Solver, site: Site, name: str, holder: int) -> None:
    graph, values = solver.graph, solver.values
    _, model, owner = values[holder]
    if name in _SAME:
        graph.put(site.result, holder)
        if name != "get_queryset" and owner >= 0 and (member := solver.program.member(owner, "get_queryset")) >= 0:
            callee = graph.node()
            solver.bind(solver.symbol(member), holder, callee)
            if model >= 0:
                records.as_sets(solver, model, invoke(solver, site, callee, []), site.result)
    if model < 0:
        return
    record = values.number(Sort.OBJECT, model)
    if name in _ONE:
        graph.put(site.result, record)
    elif name in _WITH_MORE:
        graph.put(solver.slot(collected(solver, site), "i0"), record)
    elif name in _LISTS:
        graph.put(solver.slot(collected(solver, site), ""), record)
    elif name in _MAPPINGS:
        graph.put(solver.slot(collected(solver, site, is_mapping=True), ""), record)
    if name in _BY_FIELDS:
        tell_fields(solver, site, model)


def is_set(solver: Solver, value: int) -> bool:
    """Whether it is a set of records, of a model that is known or not."""
    sort, first, _ = solver.values[value]
    return sort == Sort.RECORDS or (sort == Sort.OBJECT and first in solver.models.sets)


def give_own(solver: Solver, source: int, holder: int, target: int) -> None:
    """What a method of sets gives, of the records that it is called on: many models may have the same manager, whose method it is."""
    values = solver.values
    sort, first, second = values[holder]
    model, owner = (first, second) if sort == Sort.RECORDS else (-1, first)

    def given(value: int) -> None:
        sort, first, second = values[value]
        is_of_other = first != model and first in solver.models.sharing.get(owner, ())
        if sort == Sort.RECORDS and is_of_other:
            solver.graph.put(target, values.number(Sort.RECORDS, model, second))
        elif not (sort == Sort.OBJECT and is_of_other):
            solver.graph.put(target, value)

    solver.graph.watch(source, given)


def tell_fields(solver: Solver, site: Site, model: int) -> None:
    """Keywords that are names of fields of a model mean those."""
    for key, row in site.keys.items():
        member = solver.program.member(model, key)
        if member >= 0 and solver.program.holds(member):
            solver.read[row, member] = None


# ---- fields that hold other records


def _each_model(solver: Solver, site: Site, use: Callable[[int, int], None]) -> None:
    """Hands over the model in whose text a field stands, -1 for none, and each that it may lead to: a class, its name, or `"self"`."""
    program = solver.program
    around = program.body[site.row] if site.row >= 0 else -1
    holder = around if around in solver.models.models else -1

    def led_to(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.TEXT:
            name = solver.values.content(value)
            model = holder if name == "self" else solver.models.named(program, name)
        else:
            model = first if sort == Sort.CLASS and first in solver.models.models else -1
        if model >= 0:
            use(holder, model)

    for source in [*site.given[:1], *([site.named["to"]] if "to" in site.named else [])]:
        solver.graph.watch(source, solver.once(led_to))


def _back(solver: Solver, site: Site, implied: str, use: Callable[[str], None]) -> None:
    """The name by which the other model has the records that lead to it."""
    if "related_name" not in site.named:
        use(implied)
        return

    def named(text: int) -> None:
        name = solver.values.content(text)
        if name.isidentifier():
            use(name)

    solver.graph.watch(site.named["related_name"], named)


def _relation(*, is_many: bool, is_back_many: bool, has_back: bool = True) -> _Handler:
    """Args: is_many: the field holds a set of records. is_back_many: the other model has a set of those that lead to it."""

    def handler(solver: Solver, site: Site) -> None:
        def related(holder: int, model: int) -> None:
            if is_many:
                records.of_model(solver, model, site.result)
            else:
                solver.graph.put(site.result, solver.values.number(Sort.OBJECT, model))
            if holder >= 0 and has_back:
                name = solver.program.names[holder].lower()
                _back(solver, site, f"{name}_set" if is_back_many else name, lambda back: _set_back(solver, holder, model, back))

        def _set_back(solver: Solver, holder: int, model: int, name: str) -> None:
            target = solver.attribute(model, name)
            if is_back_many:
                records.of_model(solver, holder, target)
            else:
                solver.graph.put(target, solver.values.number(Sort.OBJECT, holder))

        _each_model(solver, site, related)

    return handler


def _manager(solver: Solver, site: Site) -> None:
    """`models.Manager()` in a class: a set of its records, with no methods of the workspace."""
    solver.graph.put(site.result, solver.values.number(Sort.RECORDS, -1, -1))


def _from_queryset(solver: Solver, site: Site) -> None:
    for source in site.given[:1]:
        solver.graph.copy(source, site.result)


def _found_or_404(*, is_one: bool) -> _Handler:
    def handler(solver: Solver, site: Site) -> None:
        def given(value: int) -> None:
            sort, first, _ = solver.values[value]
            if first not in solver.models.models or sort not in (Sort.CLASS, Sort.RECORDS):
                return
            tell_fields(solver, site, first)
            if is_one:
                solver.graph.put(site.result, solver.values.number(Sort.OBJECT, first))
            elif sort == Sort.RECORDS:
                solver.graph.put(site.result, value)
            else:
                records.of_model(solver, first, site.result)

        for source in site.given[:1]:
            solver.graph.watch(source, solver.once(given))

    return handler


def _model_of_users(solver: Solver, site: Site) -> None:
    """`get_user_model()`: the one model of the workspace that is a kind of user."""
    program = solver.program
    found = [
        owner for owner in sorted(solver.models.models) if any(program.outside.get(base, "") in _USERS for base in program.order(owner))
    ]
    if len(found) == 1:
        solver.graph.put(site.result, solver.values.number(Sort.CLASS, found[0]))


_USERS = frozenset({"django.contrib.auth.base_user.AbstractBaseUser", "django.contrib.auth.models.AbstractUser"})
_RELATED = "django.db.models.fields.related."

FUNCTIONS: Mapping[str, _Handler] = {
    f"{_RELATED}ForeignKey": _relation(is_many=False, is_back_many=True),
    f"{_RELATED}OneToOneField": _relation(is_many=False, is_back_many=False),
    f"{_RELATED}ManyToManyField": _relation(is_many=True, is_back_many=True),
    "modelcluster.fields.ParentalKey": _relation(is_many=False, is_back_many=True),
    "django.contrib.contenttypes.fields.GenericRelation": _relation(is_many=True, is_back_many=False, has_back=False),
    "django.db.models.manager.Manager": _manager,
    "django.db.models.manager.BaseManager.from_queryset": _from_queryset,
    "django.shortcuts.get_object_or_404": _found_or_404(is_one=True),
    "django.shortcuts.aget_object_or_404": _found_or_404(is_one=True),
    "django.shortcuts.get_list_or_404": _found_or_404(is_one=False),
    "django.contrib.auth.get_user_model": _model_of_users,
}
