"""Notebooks: their code at the lines and columns of their file, told to a server, asked about and edited there."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from query_support import codes, generation
from support import crawl_with_ty, rows, write_tree

from indexer import notebook
from indexer.errors import EditRefused
from query.edits.scope import Scope
from query.edits.text import Edit
from query.edits.tree import Tree
from query.facts.index import open_index
from query.facts.sources import Sources
from query.surface.registry import call


def _cell(*lines: str, kind: str = "code") -> dict[str, Any]:
    ends = [f"{line}\n" for line in lines[:-1]] + list(lines[-1:])
    return {"cell_type": kind, "execution_count": None, "metadata": {}, "outputs": [], "source": ends}


def _notebook(*cells: dict[str, Any], language: str = "python", indent: int | None = 1) -> str:
    metadata = {"kernelspec": {"language": language, "name": "k"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=indent) + "\n"


def _lines(text: str) -> list[str]:
    code = notebook.code_of(text)
    assert code is not None
    ast.parse(code)
    return [line[5:] for line in code.split("\n")[1:] if line]


def test_code_stands_where_its_file_has_it() -> None:
    """Each name has the line and the column that an editor shows for the file."""
    text = _notebook(_cell("# words", kind="markdown"), _cell("def f(a):", "    return g(a)"), _cell("f(1)"))
    code = notebook.code_of(text)
    assert code is not None
    for number, (written, shown) in enumerate(zip(text.split("\n"), code.split("\n"), strict=True)):
        for name in ("def f", "return", "g(a)", "f(1)"):
            assert written.find(name) == shown.find(name), (number, name)
    assert _lines(text) == ["def f(a):", "    return g(a)", "f(1)"]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (['print("a", b)'], ['print(" a" , b)']),
        (['x = f"""{y}"""; z'], ['x = f"""   {y}"""   ; z']),
        (["a = 1 + \\", "    b"], ["a = 1 + \\", "    b"]),
        (["%matplotlib inline", "x"], ["0", "x"]),
        (["%time f(x)"], ["0,    f(x)"]),
        (["%%bash", "rm x"], []),
        (["%%time", "f(x)"], ["f(x)"]),
        (["files = !ls", "f?", "?f"], ["files = 0", "0", "0"]),
        (["if a:", "    !pip install x"], ["if a:", "    0"]),
        (["x % y"], ["x % y"]),
        (["s = 'é'; f(s)"], ["s = 'é     '; f(s)"]),
    ],
)
def test_what_only_ipython_or_json_understands_is_blank(lines: list[str], shown: list[str]) -> None:
    """Escapes keep their width, so what follows them keeps its column; the text is Python."""
    assert _lines(_notebook(_cell(*lines))) == shown


@pytest.mark.parametrize(
    "text",
    [
        _notebook(_cell("f(1)"), language="R"),
        _notebook(_cell("f(1)"), indent=None),
        _notebook({"cell_type": "code", "source": "a = 1\nf(a)"}),
        "not JSON",
        "[]",
    ],
)
def test_a_notebook_without_lines_of_python_has_no_code(text: str) -> None:
    """Then its words count, as those of any file that is not read."""
    assert notebook.code_of(text) is None


LIB = "def helper(x):\n    return x\n"
FILES = {
    "lib.py": LIB,
    "nb.ipynb": _notebook(_cell("from lib import helper"), _cell("def inner(a):", '    return helper("q")'), _cell("inner(1)")),
    "flat.ipynb": _notebook(_cell("from lib import helper", "helper(1)"), indent=None),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_tree(tmp_path_factory.mktemp("notebooks"), FILES)
    crawl_with_ty(made)
    return made


def test_calls_in_cells_are_calls(root: Path) -> None:
    """From one cell to another, and out of the notebook; one whose code is not read is named."""
    calls = rows(generation(root), "SELECT split_part(callee, ' ', -1), path, line FROM calls ORDER BY 1")
    lines = FILES["nb.ipynb"].split("\n")
    assert [(callee, path) for callee, path, _ in calls] == [("lib/helper().", "nb.ipynb"), ("nb/inner().", "nb.ipynb")]
    assert ["helper(" in lines[calls[0][2]], "inner(1)" in lines[calls[1][2]]] == [True, True]
    with open_index(root) as index:
        answer = call(index, "callers", {"symbol": "lib.helper"})
    assert codes(answer) == ["not_read"]
    assert answer.completeness.reasons[0].paths == ["flat.ipynb"]


def test_a_line_of_a_notebook_is_shown_as_code(root: Path) -> None:
    """Without the quotation marks of its file."""
    number = next(i for i, line in enumerate(FILES["nb.ipynb"].split("\n")) if "inner(1)" in line)
    with open_index(root) as index:
        assert Sources(index).line("nb.ipynb", number) == "inner(1)"


def test_a_notebook_is_edited_only_where_it_stays_json(root: Path) -> None:
    """A new name is written as it is; what would need an escape, or takes in several lines, is refused."""
    number, line = next((i, line) for i, line in enumerate(FILES["nb.ipynb"].split("\n")) if "inner(1)" in line)
    col = line.index("inner")
    tree = Tree(Scope(root=root))
    tree.edit("nb.ipynb", [Edit(start=(number, col), end=(number, col + 5), new_text="outer")])
    entry = tree.get("nb.ipynb")
    assert entry is not None
    assert "outer(1)" in json.loads(entry.content)["cells"][2]["source"][0]
    for end, text in (((number, col + 5), 'a"b'), ((number + 1, 0), "")):
        with pytest.raises(EditRefused, match="JSON"):
            tree.edit("nb.ipynb", [Edit(start=(number, col), end=end, new_text=text)])
