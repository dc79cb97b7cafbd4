"""How far a repository is trusted."""

from __future__ import annotations

from enum import StrEnum


class Trust(StrEnum):
    """How far a repository is trusted, and so what a language server may execute of it.

    NONE: nothing that lies in the repository or that was installed for it; programs of the system and of lspidx only read it.
    DEPS: what was installed for it too: the interpreter of its environment, its node_modules. Not what is part of the repository.
    FULL: everything: build scripts, proc macros, plugins, the repository's own tools. Servers are not confined.
    """

    NONE = "none"
    DEPS = "deps"
    FULL = "full"

    def covers(self, needed: Trust) -> bool:
        levels = list(Trust)
        return levels.index(self) >= levels.index(needed)
