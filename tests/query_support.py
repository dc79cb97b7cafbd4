"""A small shop, crawled once by ty, for the tests of the tools and of the command line (fixtures: query_fixtures.py)."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import commands
import duckdb
from commands import LSPIDX as LSPIDX

from indexer.store import proof
from query.answers.envelope import Answer
from query.answers.style import Style
from query.facts.status import Report
from query.surface.service import Service
from query.tools.index_status import report_lines

FILES = {
    "shop/__init__.py": 'from shop.models import Item\n\n__all__ = ["Item"]\n',
    "shop/models.py": '''"""Things that are sold."""

from typing import overload


class Base:
    """Whatever has a name."""

    def describe(self) -> str:
        return "base"

    def save(self) -> str:
        return self.describe()


class Priced(Base):
    def describe(self) -> str:
        return "priced"


class Taxed(Base):
    pass


class Item(Priced, Taxed):
    """One item."""

    def __init__(self, price: int) -> None:
        self.price = price

    @property
    def gross(self) -> int:
        return self.price * 2

    @gross.setter
    def gross(self, value: int) -> None:
        self.price = value // 2


class Leaf(Item):
    def describe(self) -> str:
        return "leaf"


class Plain:
    def run(self) -> None:
        pass


@overload
def parse(text: str) -> int: ...
@overload
def parse(text: bytes) -> float: ...
def parse(text):
    return len(text)
''',
    "shop/service.py": """from collections.abc import Callable

from shop.models import Base, Item, Plain, parse
from shop.native import fast


def logged(function: Callable[[int], int]) -> Callable[[int], int]:
    return function


@logged
def decorated(count: int) -> int:
    total = count
    return total


def run(count: int) -> int:
    if count > 0:
        return run(count - 1)
    return fast(count)


def middle() -> int:
    return run(3)


def outer() -> int:
    return middle() + parse("x")


def show(base: Base) -> str:
    return base.describe()


def stock() -> str:
    item = Item(3)
    Plain().run()
    item.save()
    return show(item)


MOOD, AFTER = "\N{PARTY POPPER}\N{PARTY POPPER}", run(1)
""",
    "shop/dynamic.py": """def poke(thing):
    thing.describe()
    return thing.nowhere
""",
    "shop/either.py": """import os

if os.environ:

    def pick() -> int:
        return 1

else:

    def pick() -> int:
        return 2


both = pick()
""",
    "shop/utils.py": "def helper() -> int:\n    return 1\n",
    "shop/evil.py": '''def warn() -> str:
    """Says \x1b[2Jgone."""
    return "\x1b[31mred\x07"


TITLE = "\x1b]0;title\x07", warn()
''',
    "shop/sub/__init__.py": "",
    "shop/sub/utils.py": "def helper() -> int:\n    return 2\n",
    "shop/native.pyi": "def fast(count: int) -> int: ...\n",
    "shop/native.py": "def fast(count: int) -> int:\n    return count\n",
    "tests/test_service.py": """from shop.service import outer, run


def test_run() -> None:
    assert run(1) == 0
    assert outer()
""",
}


Ask = Callable[..., Answer]


def generation(root: Path) -> Path:
    return root / ".lspidx" / "db" / (root / ".lspidx" / "CURRENT").read_text(encoding="ascii").strip()


def damage(root: Path, *statements: str) -> None:
    """Changes the index of a copy by SQL, as no part of lspidx does, and proves it anew: it is this user's still."""
    with duckdb.connect(str(generation(root))) as connection:
        for statement in statements:
            connection.execute(statement)
    proof.prove(generation(root))


def place(path: str, marked: str, files: dict[str, str] = FILES) -> tuple[int, int]:
    """1-based line and UTF-16 column of the @@ in the one place of `path` that reads like `marked`."""
    before, after = marked.split("@@")
    text = files[path]
    assert text.count(before + after) == 1, marked
    head = text[: text.index(before + after) + len(before)]
    return head.count("\n") + 1, len(head.rpartition("\n")[2].encode("utf-16-le")) // 2 + 1


def at(path: str, marked: str, files: dict[str, str] = FILES) -> str:
    """`path:line:col` of the @@."""
    line, col = place(path, marked, files)
    return f"{path}:{line}:{col}"


def names(answer: Answer) -> list[str]:
    """Qualified names of an answer's symbols."""
    return [
        getattr(item, "symbol", item).qualified_name if not hasattr(item, "qualified_name") else item.qualified_name
        for item in answer.result
    ]


def codes(answer: Answer) -> list[str]:
    return [reason.code for reason in answer.completeness.reasons]


def lspidx(*arguments: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, in an environment without colour; see commands.py."""
    return commands.run(arguments, cwd=cwd, env=plain_environment(cwd, env))


def plain_environment(home: Path, more: dict[str, str] | None = None) -> dict[str, str]:
    """PATH is that of this test: it leads to toolchains where the test has said that it needs one."""
    plain = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "LANG": "C.UTF-8", "LSPIDX_DAEMON_IDLE_S": "0"}
    return {**plain, **_state(), **(more or {})}


def _state() -> dict[str, str]:
    """Where this run keeps its secret: who asks is who has made the index."""
    return {name: os.environ[name] for name in ("LSPIDX_STATE_DIR",) if name in os.environ}


@contextlib.contextmanager
def results_of(tool: str, root: Path) -> Iterator[Callable[..., Any]]:
    """What a tool gives about a symbol, the first argument; the others by name. Meanwhile the root is the current folder."""
    service = Service(root)
    try:
        with contextlib.chdir(root):
            yield lambda symbol, **more: service.ask(tool, {"symbol": symbol, **more}).result
    finally:
        service.close()


def json_of(done: subprocess.CompletedProcess[str]) -> Any:
    """The one JSON value on stdout."""
    import json

    return json.loads(done.stdout)


_VALUES = {
    "query": "run", "file_path": "shop/models.py", "symbol": "shop.models.Item", "workspace_dir": ".",
    "symbol_path": "shop.models.Item.gross",
    "source": "shop.service.outer", "target": "shop.service.run", "changed_files": "shop/service.py", "path": "shop",
}  # fmt: skip
"""Something sensible to ask about the shop, by positional parameter."""

ASKED_ELSEWHERE = (
    "changes",
    "detect_changes",
    "diff_index",
    "add_workspace_folder",
    "remove_workspace_folder",
    "export_cache",
    "import_cache",
    "activate_skill",
    "safe_apply_edit",
    "safe_edit",
    "preview_edit",
    "destroy_session",
    "discard_session",
    "commit_session",
    "simulate_chain",
    "evaluate_session",
    "simulate_edit",
    "create_simulation_session",
    "apply_edit",
    "insert_after_symbol",
    "insert_before_symbol",
    "prepare_rename",
    "rename_symbol",
    "move_symbol",
    "change_signature",
    "replace_symbol_body",
    "run_build",
    "run_tests",
    "safe_delete_symbol",
    "get_completions", "get_signature_help", "suggest_fixes", "execute_command", "format_document", "format_range",
    "get_semantic_tokens", "get_inlay_hints",
    "start_lsp", "restart_lsp_server", "open_document", "close_document", "did_change_watched_files", "set_log_level",
)  # fmt: skip
"""Tools that compare trees of a repository, which the shop is not, make another index, change files, run its code, need a running
server, or change what other calls may do: tests of their own ask them."""


def question(tool: Any) -> dict[str, Any]:
    """Arguments by name, for the parameters that a tool takes without a flag."""
    given: dict[str, Any] = {name: _VALUES[name] for name in tool.positional.split()}
    if tool.name == "find_callers":
        given["symbol"] = "shop.service.run"
    return {name: [value] if isinstance(getattr(tool.parameters(), name), list) else value for name, value in given.items()}


def report_text(report: Report) -> str:
    """What `lspidx status` prints of an index, without colours."""
    return "\n".join(report_lines(report, Style(color=False)))
