"""What modules of Python's standard library, pytest and FastAPI do with what they are given (`library` has the built-in functions).

Awaiting gives the result itself, so what makes tasks of coroutines hands them on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from indexer.model import Via
from indexer.store.flow.calls import iterating, parsers
from indexer.store.flow.calls.library import TAKEN_APART, handed_on
from indexer.store.flow.calls.operations import collected, elements_of, enter, invoke, item, merge
from indexer.store.flow.values.provided import globals_by_name
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_Handler = Callable[[Solver, Site], None]

EXCEPTIONS = (
    *(
        "BaseException",
        "Exception",
        "ArithmeticError",
        "AssertionError",
        "AttributeError",
        "EOFError",
        "ImportError",
        "IndexError",
        "KeyError",
    ),
    *("LookupError", "ModuleNotFoundError", "NotImplementedError", "OSError", "RuntimeError", "StopIteration", "SystemExit", "TypeError"),
    *("ValueError", "Warning", "UserWarning", "DeprecationWarning", "PermissionError", "TimeoutError", "UnicodeError"),
)
"""Classes of the language whose objects hold what they are given."""


def _passes_on(place: int) -> _Handler:
    """It calls the argument at a place with those behind it: `loop.call_later(1, f, x)`."""

    def handler(solver: Solver, site: Site) -> None:
        if place < len(site.given):
            made = solver.site(site.row, site.given[place], solver.graph.node(), via=Via.ARGUMENT, depth=site.depth + 1)
            made.given, made.named = site.given[place + 1 :], site.named
            made.spread = [(at - place - 1, node) for at, node in site.spread if at > place]
            solver.activate(made)
            solver.graph.copy(made.result, site.result)

    return handler


def _submit(solver: Solver, site: Site) -> None:
    """`executor.submit(f, x)`: what holds the result."""
    future = collected(solver, site)
    if site.given:
        made = solver.site(site.row, site.given[0], solver.graph.node(), via=Via.ARGUMENT, depth=site.depth + 1)
        made.given, made.named = site.given[1:], site.named
        made.spread = [(at - 1, node) for at, node in site.spread if at > 0]
        solver.activate(made)
        solver.graph.copy(made.result, solver.slot(future, ""))


def _thread(solver: Solver, site: Site) -> None:
    """`Thread(target=f, args=(x,), kwargs={…})`."""
    if "target" in site.named:
        made = solver.site(site.row, site.named["target"], solver.graph.node(), via=Via.ARGUMENT, depth=site.depth + 1)
        made.spread = [(0, site.named["args"])] if "args" in site.named else []
        made.spread_named = [site.named["kwargs"]] if "kwargs" in site.named else []
        solver.activate(made)


def _held(solver: Solver, site: Site) -> None:
    """What holds what it is given: a context variable, a weak reference, `pytest.param`."""
    made = collected(solver, site)
    for place, source in enumerate(site.given):
        solver.graph.copy(source, solver.slot(made, f"i{place}"))


def _from_keys(solver: Solver, site: Site) -> None:
    """`dict.fromkeys(names, x)`."""
    made = collected(solver, site, is_mapping=True)
    solver.graph.copy(elements_of(solver, site, 0), solver.keys(made))
    for source in site.given[1:2]:
        solver.graph.copy(source, solver.slot(made, ""))


def _mock(solver: Solver, site: Site) -> None:
    """`Mock(side_effect=f)`: who calls it calls f."""
    for word in ("side_effect", "wraps"):
        if word in site.named:
            solver.graph.copy(site.named[word], site.result)


def _entered(solver: Solver, site: Site) -> None:
    for source in site.given[:1]:
        enter(solver, source, site.result, site.row, is_async=False)


def _entered_async(solver: Solver, site: Site) -> None:
    for source in site.given[:1]:
        enter(solver, source, site.result, site.row, is_async=True)


def _method(solver: Solver, site: Site) -> None:
    """`MethodType(f, x)`."""
    if len(site.given) == 2:

        def bound(receiver: int) -> None:
            solver.graph.watch(site.given[0], lambda value: solver.graph.put(site.result, solver.held_first(value, receiver)))

        solver.graph.watch(site.given[1], solver.once(bound))


def _replace(solver: Solver, site: Site) -> None:
    """`dataclasses.replace(x, part=y)`: one more of its class, with other parts."""
    for source in site.given[:1]:
        solver.graph.copy(source, site.result)
        for name, part in site.named.items():
            solver.graph.watch(source, lambda value, name=name, part=part: solver.store(value, name, part))


def _pickled(solver: Solver, site: Site) -> None:
    """`pickle.dumps(x)`: bytes that stand for x."""
    made = collected(solver, site)
    for source in site.given[:1]:
        solver.graph.copy(source, solver.slot(made, ""))
        solver.compared.append((site.row, source, TAKEN_APART))


def _unpickled(solver: Solver, site: Site) -> None:
    """`pickle.loads(pickle.dumps(x))`: one more of its class."""
    solver.graph.copy(elements_of(solver, site, 0), site.result)
    solver.compared.append((site.row, site.result, ("__setstate__",)))


def _scheduled(solver: Solver, site: Site) -> None:
    """`scheduler.enter(delay, priority, f, (x,), {…})`."""
    for callee in [*site.given[2:3], *([site.named["action"]] if "action" in site.named else [])]:
        made = solver.site(site.row, callee, solver.graph.node(), via=Via.ARGUMENT, depth=site.depth + 1)
        made.spread = [(0, node) for node in [*site.given[3:4], *([site.named["argument"]] if "argument" in site.named else [])]]
        made.spread_named = [*site.given[4:5], *([site.named["kwargs"]] if "kwargs" in site.named else [])]
        solver.activate(made)


def _field(solver: Solver, site: Site) -> None:
    """A field of a record: its default, or what a function gives for it."""
    for word in ("default_factory", "factory"):
        if word in site.named:
            solver.graph.copy(invoke(solver, site, site.named[word], []), site.result)
    if "default" in site.named:
        solver.graph.copy(site.named["default"], site.result)


def _namespace(solver: Solver, site: Site) -> None:
    """An object of no class of the workspace that has what is set in it: `threading.local()`, `SimpleNamespace(a=f)`."""
    made = collected(solver, site)
    solver.spaces.add(made)
    for name, source in site.named.items():
        solver.graph.copy(source, solver.slot(made, "s" + name))


def _getter(solver: Solver, site: Site) -> None:
    solver.graph.put(site.result, solver.values.number(Sort.GETTER, site.number))


def attribute_getter(solver: Solver, site: Site, made: int) -> None:
    """What `attrgetter("name")` or `methodcaller("name", x)` made is called: the latter calls the attribute, too."""
    before = solver.sites[made]
    target = site.result
    if before.is_caller:
        again = solver.site(site.row, solver.graph.node(), site.result, via=Via.ARGUMENT, depth=site.depth + 1)
        again.given, again.named = before.given[1:], before.named
        solver.activate(again)
        target = again.callee

    def named(text: int) -> None:
        name = solver.values.content(text)
        for source in site.given[:1] if name else ():
            solver.graph.watch(source, solver.once(lambda value: solver.load(value, name, target, -1, site.row)))

    for source in before.given[:1]:
        solver.graph.watch(source, named)


def _partial_method(solver: Solver, site: Site) -> None:
    """`partialmethod(f, x)` in a class: the object comes first."""
    for source in site.given[:1]:
        solver.graph.watch(
            source,
            lambda value: solver.graph.put(site.result, solver.values.number(Sort.HELD_BACK, site.number, value)),
        )


def _item_getter(solver: Solver, site: Site) -> None:
    solver.graph.put(site.result, solver.values.number(Sort.ITEM_GETTER, site.number))


def item_getter(solver: Solver, site: Site, made: int) -> None:
    """What `itemgetter("key")` made is called."""
    before = solver.sites[made]

    def keyed(text: int) -> None:
        content = solver.values.content(text)
        for source in site.given[:1] if content else ():
            item(solver, source, "s" + content, site.result, -1)

    for source in before.given[:1] if len(before.given) == 1 else ():
        solver.graph.watch(source, keyed)


def _globals(solver: Solver, site: Site) -> None:
    """`globals()`."""
    module = _module_around(solver, site)
    if module >= 0:
        solver.graph.put(site.result, globals_by_name(solver, module))


def _module_around(solver: Solver, site: Site) -> int:
    program = solver.program
    around = program.body[site.row] if site.row >= 0 else -1
    while around >= 0 and not program.is_module(around):
        around = program.containers[around]
    return around


def _imported(solver: Solver, site: Site) -> None:
    """`import_module("a.b")`: the one module whose path ends so."""

    def named(text: int) -> None:
        module = solver.program.module_of(solver.values.content(text))
        if module >= 0:
            solver.graph.put(site.result, solver.values.number(Sort.MODULE, module))

    for source in site.given[:1]:
        solver.graph.watch(source, named)


def _vars(solver: Solver, site: Site) -> None:
    """`vars(x)`."""
    for source in site.given[:1]:
        solver.graph.watch(source, solver.once(lambda value: solver.load(value, "__dict__", site.result, -1)))


def _method_reference(solver: Solver, site: Site) -> None:
    """`WeakMethod(x.f)`: who calls it gets the method."""
    made = collected(solver, site)
    for source in site.given[:1]:
        solver.graph.copy(source, solver.slot(made, "i0"))


def _called_back(word: str, place: int) -> _Handler:
    """It calls what it is given under a word, or at a place."""

    def handler(solver: Solver, site: Site) -> None:
        for callee in [*site.given[place : place + 1], *([site.named[word]] if word in site.named else [])]:
            solver.graph.copy(invoke(solver, site, callee, []), site.result)

    return handler


def _to_json(solver: Solver, site: Site) -> None:
    """`json.dumps(x, default=f)`: f is given the objects in x."""
    if "default" not in site.named or not site.given:
        return
    given = solver.graph.node()

    def inside(value: int) -> None:
        sort = solver.values[value].sort
        if sort == Sort.OBJECT:
            solver.graph.put(given, value)
        elif sort == Sort.CONTAINER:
            solver.graph.watch(solver.all_of(value), seen)

    seen = solver.once(inside)
    solver.graph.watch(site.given[0], seen)
    solver.graph.watch(invoke(solver, site, site.named["default"], [given]), seen)


def _when_done(solver: Solver, site: Site) -> None:
    """`future.add_done_callback(f)`."""
    for callee in site.given[:1]:
        invoke(solver, site, callee, [solver.graph.node()])


def _keeping(solver: Solver, site: Site) -> None:
    """What is empty and holds what its methods put into it: a queue."""
    collected(solver, site)


def _mapping(solver: Solver, site: Site) -> None:
    collected(solver, site, is_mapping=True)


def _chain_map(solver: Solver, site: Site) -> None:
    made = collected(solver, site, is_mapping=True)
    for source in site.given:
        merge(solver, made, source)


def _depended_on(solver: Solver, site: Site) -> None:
    """`Depends(f)` as a default: the parameter is what f gives, or yields. FastAPI calls f, not who says so."""
    for callee in [*site.given[:1], *([site.named["dependency"]] if "dependency" in site.named else [])]:
        made = solver.site(-1, callee, solver.graph.node(), via=Via.ARGUMENT, depth=site.depth + 1)
        solver.activate(made)

        def given(value: int) -> None:
            if solver.values[value].sort == Sort.CONTAINER:
                solver.graph.copy(solver.elements(value), site.result)
            else:
                solver.graph.put(site.result, value)

        solver.graph.watch(made.result, solver.once(given))


def _compared(solver: Solver, site: Site) -> None:
    """`cmp_to_key(f)`: who compares by it calls f."""
    for source in site.given[:1]:
        solver.graph.copy(source, site.result)


def _exception(solver: Solver, site: Site) -> None:
    """An exception of the language: of those that are given anything that flows, or are thrown because of another one."""
    call = solver.program.parent[site.row] if site.row >= 0 else -1
    if site.given or call in solver.caused:
        made = collected(solver, site)
        solver.spaces.add(made)
        keep_given(solver, site, solver.slot(made, "sargs"))


def keep_given(solver: Solver, site: Site, target: int) -> None:
    """A tuple of all arguments."""
    given = solver.container(("given", site.number))
    solver.graph.put(target, given)
    for place, source in enumerate(site.given):
        solver.graph.copy(source, solver.slot(given, f"i{place}"))


def _named_tuple(solver: Solver, site: Site) -> None:
    """`namedtuple("Point", "x y")`."""
    solver.graph.put(site.result, solver.values.number(Sort.FIELDS, site.number))


def named_fields(solver: Solver, site: Site, made: int) -> None:
    """What `namedtuple` made is called: it makes an object of no class of the workspace, whose items are taken by place and by name."""
    record = collected(solver, site)
    solver.spaces.add(record)
    for place, source in enumerate(site.given):
        solver.graph.copy(source, solver.slot(record, f"i{place}"))
    for name, source in site.named.items():
        solver.graph.copy(source, solver.slot(record, "s" + name))

    def fields(names: Sequence[str]) -> None:
        for place, name in enumerate(names):
            solver.graph.copy(solver.slot(record, f"i{place}"), solver.slot(record, "s" + name))

    def listed(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER:
            found: list[str] = []
            solver.each_slot(value, lambda key, _: found.append(key[1:]) if key[:1] == "s" else None)
            fields(found)
        elif content := solver.values.content(value):
            fields(content.replace(",", " ").split())

    for source in solver.sites[made].given[1:2]:
        solver.graph.watch(source, listed)


def _single_dispatch(solver: Solver, site: Site) -> None:
    """The function stays what it is; what is given to its `register` runs in its place."""

    def decorated(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.FUNCTION:
            solver.graph.put(solver.attribute(-1 - value, "register"), solver.values.number(Sort.REGISTER, first))
            if first not in solver.instead:
                solver.instead[first] = solver.graph.node()
                for known, _, receiver in tuple(solver.callers.get(first, ())):
                    run_instead(solver, known, first, receiver)

    for source in site.given[:1]:
        solver.graph.copy(source, site.result)
        solver.graph.watch(source, decorated)


def run_instead(solver: Solver, site: Site, function: int, receiver: int | None) -> None:
    callee = solver.instead[function]
    if receiver is not None:
        solver.bind(solver.instead[function], receiver, callee := solver.graph.node())
    made = solver.site(site.row, callee, site.result, via=Via.ARGUMENT, depth=site.depth + 1)
    made.given, made.named, made.spread, made.spread_named = site.given, site.named, site.spread, site.spread_named
    solver.activate(made)


def register(solver: Solver, site: Site, function: int) -> None:
    """`@f.register`, `@f.register(A)`, `f.register(A, g)`."""
    for source in site.given[-1:]:
        solver.graph.watch(source, lambda value: _registered(solver, site, function, value))
    if len(site.given) <= 1:
        solver.graph.put(site.result, solver.values.number(Sort.REGISTER, function))


def _registered(solver: Solver, site: Site, function: int, value: int) -> None:
    if solver.values[value].sort in (Sort.FUNCTION, Sort.LAMBDA):
        solver.graph.put(solver.instead[function], value)
        solver.graph.put(site.result, value)


def _made_by_type(solver: Solver, site: Site) -> None:
    """`type.__call__(cls, …)`, in a metaclass: it makes an object of the class."""

    def made(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.CLASS:
            again = solver.site(site.row, callee := solver.graph.node(), site.result, via=Via.ARGUMENT, depth=site.depth + 1)
            again.given, again.named, again.spread_named = site.given[1:], site.named, site.spread_named
            again.spread = [(place - 1, node) for place, node in site.spread]
            solver.activate(again)
            solver.graph.put(callee, solver.values.number(Sort.MADE_BY, first))

    for source in site.given[:1]:
        solver.graph.watch(source, solver.once(made))


def _method_caller(solver: Solver, site: Site) -> None:
    site.is_caller = True
    _getter(solver, site)


FUNCTIONS: Mapping[str, _Handler] = {
    **iterating.FUNCTIONS,
    **dict.fromkeys(("asyncio.runners.run", "asyncio.events.AbstractEventLoop.run_until_complete"), handed_on(0)),
    **dict.fromkeys(("asyncio.tasks.create_task", "asyncio.events.AbstractEventLoop.create_task"), handed_on(0)),
    **dict.fromkeys(("asyncio.tasks.ensure_future", "asyncio.tasks.wait_for", "asyncio.tasks.shield"), handed_on(0)),
    **dict.fromkeys(("contextlib.closing", "contextlib.nullcontext", "dataclasses.replace", "_weakref.proxy"), handed_on(0)),
    "asyncio.tasks.gather": _held,
    **dict.fromkeys(("asyncio.threads.to_thread", "asyncio.events.AbstractEventLoop.call_soon", "atexit.register"), _passes_on(0)),
    **dict.fromkeys(("asyncio.events.AbstractEventLoop.run_in_executor", "asyncio.events.AbstractEventLoop.call_later"), _passes_on(1)),
    "contextlib._BaseExitStack.callback": _passes_on(0),
    "contextlib._BaseExitStack.enter_context": _entered,
    "contextlib.AsyncExitStack.enter_async_context": _entered_async,
    "concurrent.futures._base.Executor.submit": _submit,
    **dict.fromkeys(("threading.Thread", "multiprocessing.context.Process"), _thread),
    "functools.partialmethod": _partial_method,
    "argparse.ArgumentParser": parsers.new,
    "argparse._ActionsContainer.set_defaults": parsers.set_defaults,
    "argparse.ArgumentParser.parse_args": parsers.parse,
    "argparse.ArgumentParser.parse_known_args": parsers.parse_known,
    "operator.itemgetter": _item_getter,
    "builtins.globals": _globals,
    "builtins.vars": _vars,
    "weakref.WeakMethod": _method_reference,
    **dict.fromkeys(("json.dumps", "json.dump"), _to_json),
    **dict.fromkeys(("asyncio.futures.Future.add_done_callback", "_asyncio.Future.add_done_callback"), _when_done),
    **dict.fromkeys(("_asyncio.Task.add_done_callback", "asyncio.tasks.Task.add_done_callback"), _when_done),
    "concurrent.futures._base.Future.add_done_callback": _when_done,
    **dict.fromkeys(("json.loads", "json.load"), _called_back("object_hook", 99)),
    "re.sub": _called_back("repl", 1),
    "re.Pattern.sub": _called_back("repl", 0),
    "functools.cmp_to_key": _compared,
    **dict.fromkeys(("fastapi.param_functions.Depends", "fastapi.param_functions.Security", "fastapi.params.Depends"), _depended_on),
    **dict.fromkeys(("queue.Queue", "queue.LifoQueue", "queue.PriorityQueue", "queue.SimpleQueue", "_queue.SimpleQueue"), _keeping),
    **dict.fromkeys(("asyncio.queues.Queue", "asyncio.queues.PriorityQueue", "multiprocessing.queues.Queue"), _keeping),
    **dict.fromkeys(("weakref.WeakValueDictionary", "weakref.WeakKeyDictionary"), _mapping),
    **dict.fromkeys(("weakref.WeakSet", "_weakrefset.WeakSet"), _keeping),
    **dict.fromkeys(("_contextvars.ContextVar", "weakref.ref", "_pytest.mark.param"), _held),
    "collections.ChainMap": _chain_map,
    **dict.fromkeys(("importlib.import_module", "_pytest.outcomes.importorskip"), _imported),
    "builtins.dict.fromkeys": _from_keys,
    **dict.fromkeys(("dataclasses.replace", "copy.replace"), _replace),
    **dict.fromkeys(("unittest.mock.Mock", "unittest.mock.MagicMock", "unittest.mock.AsyncMock"), _mock),
    "types.MethodType": _method,
    **dict.fromkeys(("pickle.dumps", "_pickle.dumps"), _pickled),
    **dict.fromkeys(("pickle.loads", "_pickle.loads"), _unpickled),
    **dict.fromkeys(("sched.scheduler.enter", "sched.scheduler.enterabs"), _scheduled),
    "weakref.finalize": _passes_on(1),
    **dict.fromkeys(("signal.signal", "_signal.signal"), _called_back("handler", 1)),
    "dataclasses.field": _field,
    **dict.fromkeys(("attr._make.attrib", "attr._next_gen.field", "attr.ib", "attr.field", "attrs.field"), _field),
    **dict.fromkeys(("threading.local", "_threading_local.local", "types.SimpleNamespace", "argparse.Namespace"), _namespace),
    **dict.fromkeys(("operator.attrgetter",), _getter),
    "builtins.type.__call__": _made_by_type,
    "operator.methodcaller": _method_caller,
    "collections.namedtuple": _named_tuple,
    **dict.fromkeys((f"builtins.{name}" for name in EXCEPTIONS), _exception),
    **dict.fromkeys(("functools.singledispatch", "functools.singledispatchmethod"), _single_dispatch),
}
