"""Python."""

from __future__ import annotations

import keyword

from indexer.languages.hooks import PYTHON_HOOKS
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
    is_module=True,
    has_environment=True,
    refreshes_by_name=True,
    is_compiled=False,
    satisfies="protocol",
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
