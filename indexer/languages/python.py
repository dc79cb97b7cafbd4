"""Python."""

from __future__ import annotations

import keyword

from indexer.languages.record import Language, Locks

_MADE = ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore")

PYTHON = Language(
    names=("python",),
    family="python",
    comments=("#",),
    decorators_above=True,
    is_indented=True,
    keywords=frozenset(keyword.kwlist),
    package_of="module",
    imports_names=True,
    is_module=True,
    has_environment=True,
    refreshes_by_name=True,
    is_compiled=False,
    satisfies="protocol",
    parameters="python",
    locks=Locks(
        names=(*_MADE, "CapacityLimiter", "allocate_lock"),
        within=("threading", "_thread", "multiprocessing", "asyncio", "anyio", "trio", "gevent", "eventlet"),
        made=(*_MADE, "LockType", "lock"),
    ),
    runner="pytest",
    test_names=("test",),
    tests_beside=True,
    runs_by_start=("pytest_", "__", "_repr_", "_ipython_"),  # `__unittest`, `__tracebackhide__`
    documented_by="pydoc",
)
