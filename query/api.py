"""The tools as functions: `callers = api.find_callers(index, "Flask.route", depth=2)`.

Each takes an open index, the parameters of the tool, and gives the whole answer: `result`, `total`, `completeness`, `provenance`. Errors
are those of `indexer.errors`: UsageError for arguments that do not fit, NameNotFound and AmbiguousName for names. `help(api.find_callers)`
tells the parameters of one; editors and type checkers read the signatures of all in `api.pyi`, which is generated.

A function is made, and its tool's module is loaded, when the function is first asked for: importing this module loads no tool.
"""

from __future__ import annotations


def __dir__() -> list[str]:
    from query.surface import registry

    return registry.names()


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    if name.startswith("_") or name not in __dir__():
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name)
    from query.surface import function, registry

    made = function.of(registry.load(name)[0])
    return globals().setdefault(name, made)  # of two threads that ask at once, both get the same function
