"""Python."""

from __future__ import annotations

import keyword

from indexer.languages.hooks import PYTHON_HOOKS
from indexer.languages.record import Language, Locks, Lookup
from indexer.model import NameUse, Role

_MADE = ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore")

_NONE = Role(0)
_OF_FIRST = (
    *((call, Role.READ) for call in ("getattr", "getattr_static", "__getattribute__")),
    *((call, Role.WRITE) for call in ("setattr", "__setattr__")),
    *((call, Role.DELETE) for call in ("delattr", "__delattr__")),
    *((call, _NONE) for call in ("hasattr", "monkeypatch.setattr", "monkeypatch.delattr")),
    *((call, _NONE) for call in ("patch.object", "patch.multiple", "spy", "stub")),
)
_REPLACED = ("patch", "patch.dict", "patch.multiple", "monkeypatch.setattr", "monkeypatch.delattr", "setattr", "delattr")
_LOADED = ("import_module", "__import__", "importorskip", "find_spec", "run_module", "import_string", "import_from_string", "resolve_name")
_LOOKUPS = (
    *(Lookup(call=call, use=NameUse.MEMBER, argument=1, of=0, roles=roles) for call, roles in _OF_FIRST),
    *(Lookup(call=call, use=NameUse.OBJECT, roles=_NONE) for call in _REPLACED),
    *(Lookup(call=call, use=NameUse.OBJECT) for call in (*_LOADED, "locate")),
    Lookup(call="attrgetter", use=NameUse.MEMBER, argument=-1),
    Lookup(call="methodcaller", use=NameUse.MEMBER, roles=Role.CALL),
    Lookup(call="usefixtures", use=NameUse.FIXTURE, argument=-1, roles=Role.CALL | Role.FIXTURE),
    *(Lookup(call=call, use=NameUse.FIXTURE, roles=Role.CALL | Role.FIXTURE) for call in ("getfixturevalue", "lazy_fixture")),
    *(Lookup(call=call, use=NameUse.CLASS, keyword="to") for call in ("ForeignKey", "OneToOneField", "ManyToManyField")),
    Lookup(call="ManyToManyField", use=NameUse.CLASS, argument=-2, keyword="through"),
    Lookup(call="relationship", use=NameUse.CLASS, keyword="argument"),
    *(Lookup(call="get_model", use=NameUse.CLASS, argument=argument) for argument in (0, 1)),
)

PYTHON = Language(
    names=("python",),
    family="python",
    comments=("#",),
    decorators_above=True,
    is_indented=True,
    keywords=frozenset(keyword.kwlist),
    lookups=_LOOKUPS,
    package_of="module",
    is_module=True,
    has_environment=True,
    refreshes_by_name=True,
    is_compiled=False,
    looks_up_names=True,
    satisfies="protocol",
    fields_by_assignment=True,
    types_are_values=True,
    parameters="python",
    locks=Locks(
        names=(*_MADE, "CapacityLimiter", "allocate_lock"),
        within=("threading", "_thread", "multiprocessing", "asyncio", "anyio", "trio", "gevent", "eventlet"),
        made=(*_MADE, "LockType", "lock"),
    ),
    runner="pytest",
    hooks=PYTHON_HOOKS,
    test_names=("test",),
    tests_beside=True,
    runs_by_start=("pytest_", "__", "_repr_", "_ipython_"),  # `__unittest`, `__tracebackhide__`
    documented_by="pydoc",
)
