"""What `make bench-traces` makes of a run: which calls of a package's tests it sees, what of them an index has, and why it lacks one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import crawl_with_ty, write_tree

from ci.bench import trace_compare
from ci.bench.trace_causes import Callee, Place, Text, by_count, plain_name
from ci.bench.trace_compare import Compared, Trace

PARTS = """\
import re
from functools import wraps

class Part:
    def __init__(self, name="part"): self.name = name
    def go(self): return self.name
    def items(self):
        yield self.name

class Other:
    def go(self): return "other"

def counted(f):
    @wraps(f)
    def wrapper(*given): return f(*given)
    return wrapper

@counted
def remade(part): return part.go()

def by_library(text): return re.sub("a", replaced, text)
def replaced(match): return "b"
def hidden(part, name): return getattr(part, name)()
"""
TESTS = {
    "src/parts.py": PARTS,
    "tests/one/conftest.py": "import pytest\nfrom parts import Part\n\n@pytest.fixture\ndef part():\n    return Part()\n",
    "tests/one/test_part.py": """\
import pytest
from parts import Other, Part, by_library, hidden, remade

def test_it(part):
    assert part.go() == "part"

@pytest.mark.parametrize("kind", [Part, Other])
def test_each(kind):
    kind().go()

@pytest.mark.parametrize("kind, name", [(Part, "part"), (Other, "other")])
def test_pairs(kind, name):
    assert kind().go() == name

def test_remade(part):
    remade(part)

def test_library():
    by_library("abc")

def test_hidden(part):
    hidden(part, "GO".lower())

def test_later(part):
    assert list(part.items()) == ["part"]
""",
    "tests/two/conftest.py": "import pytest\nfrom parts import Other\n\n@pytest.fixture\ndef part():\n    yield Other()\n",
    "tests/two/test_other.py": "def test_other(part):\n    part.go()\n",
}
"""Two fixtures of one name, each of its own folder: no test has the part of the other."""


def _traced(root: Path, out: Path, most: int) -> Trace:
    runner = Path(trace_compare.__file__).with_name("trace_run.py")
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(root), "--import-mode=importlib", str(root / "tests")]
    command = [sys.executable, "-B", str(runner), str(out), str(root), str(most), *options]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root / "src")}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert out.is_file(), done.stderr
    assert json.loads(out.read_text(encoding="utf-8"))["status"] == 0, done.stdout
    return trace_compare.read(out)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Compared]:
    folder = tmp_path_factory.mktemp("traces")
    root = write_tree(folder / "tree", TESTS)
    trace = _traced(root, folder / "trace.json", 100)
    crawl_with_ty(root, jobs=1, python=sys.prefix)  # where pytest is
    return trace_compare.compare(root, "src", trace)


def test_what_fixtures_and_parameters_bring_is_followed(compared: dict[str, Compared]) -> None:
    """Every call of a test is told, and none that another fixture of the same name would have led to."""
    found = compared["from tests"]
    assert [missed for missed in found.missed if "test_part" in missed.path or "test_other" in missed.path] == []
    assert found.contradicted == []
    assert found.judged["flow"][0] >= 5
    assert found.recall == 100.0


def test_what_is_missed_says_why(compared: dict[str, Compared]) -> None:
    """`getattr` by a name that is computed leads where no text says; what a library called is counted apart."""
    found = compared["within"]
    assert [(missed.callee, missed.cause) for missed in found.missed] == [("src/parts.py:Part.go", "getattr by name")]
    assert (found.between, found.named + found.overridden + found.possible + found.gap + len(found.missed)) == (1, found.pairs)


def test_an_edge_that_led_elsewhere_is_contradicted(tmp_path: Path) -> None:
    """The index of one text against the trace of another, in which another function was called there."""
    files = {
        "src/parts.py": "def a(): pass\ndef b(): pass\ndef run(): a()\n",
        "tests/test_run.py": "import parts\ndef test_run(): parts.run()\n",
    }
    root = write_tree(tmp_path / "tree", {**files, "src/parts.py": files["src/parts.py"].replace(": a()", ": b()")})
    trace = _traced(root, tmp_path / "trace.json", 100)
    write_tree(root, files)
    crawl_with_ty(root, jobs=1)
    found = trace_compare.compare(root, "src", trace)
    told = [(item.path, item.line, item.callee.rpartition("/")[2], len(item.ran)) for item in found["within"].contradicted]
    assert told == [("src/parts.py", 3, "a().", 1)]
    assert found["within"].judged == {"syntax": (0, 1)}
    assert [missed.callee for missed in found["within"].missed] == ["src/parts.py:b"]
    assert found["from tests"].named == 1
    table = trace_compare.to_markdown({"small": found}, ["small"])
    assert "| small (held out) | within | 1 | 0 | 0 | 0 | 0 | 1 | 0.0 | 0 of 0 |" in table
    assert "| syntax | 0 | 1 | 0.0 |" in table


def test_fewer_tests_are_drawn_from_all(tmp_path: Path) -> None:
    tests = "import parts\n" + "".join(f"def test_{number}(): parts.f{number}()\n" for number in range(9))
    files = {"src/parts.py": "".join(f"def f{number}(): pass\n" for number in range(9)), "tests/test_all.py": tests}
    trace = _traced(write_tree(tmp_path / "tree", files), tmp_path / "trace.json", 3)
    assert sorted(ran.callee.name for ran in trace.calls if ran.callee.path == "src/parts.py") == ["f0", "f3", "f6"]


@pytest.mark.parametrize(
    ("source", "callee", "cause"),
    [
        ("x.go()", "A.go", "receiver of unknown type: variable"),
        ("def f(x):\n    x.go()", "A.go", "receiver of unknown type: parameter"),
        ("self.go()", "A.go", "receiver of unknown type: self"),
        ("super().go()", "A.go", "receiver of unknown type: super()"),
        ("x.y.go()", "A.go", "receiver of unknown type: attribute"),
        ("f().go()", "A.go", "receiver of unknown type: result"),
        ("x[0].go()", "A.go", "receiver of unknown type: item"),
        ("def f(x):\n    x()", "g", "parameter that is called"),
        ("x()", "g", "variable that holds a function"),
        ("x.y()", "g", "attribute that holds a function"),
        ("x()", "f.<locals>.g", "closure of a factory or decorator"),
        ("x()", "A.__init__", "class of unknown value, variable"),
        ("x()", "A.__call__", "call of an object"),
        ("len(x)", "A.__len__", "protocol of a built-in function"),
        ("f()()", "g", "result that is called"),
        ("getattr(x, n)()", "A.go", "getattr by name"),
        ("x[0]()", "g", "item that is called"),
        ("x.y", "A.__get__", "descriptor"),
        ("x.y", "A.__getattr__", "__getattr__"),
        ("x.y", "A.y", "property or descriptor"),
        ("x + y", "A.__add__", "operator or statement"),
        ("A()", "Meta.__call__", "metaclass"),
        ("@x\ndef f(): pass", "g", "decorator"),
    ],
)
def test_a_cause_is_told_by_what_stands_there(source: str, callee: str, cause: str) -> None:
    lines = source.split("\n")
    at = 1 if source[0] == "@" else len(lines)
    start = 1 if source[0] == "@" else len(lines[at - 1]) - len(lines[at - 1].lstrip())
    place = Place(at, at, start, len(lines[at - 1]))
    assert Text(source.encode()).cause(place, Callee(callee)) == cause


def test_a_call_is_found_by_its_end_whatever_line_it_begins_on() -> None:
    """Python says that a chain over several lines begins at the attribute."""
    text = Text(b"x = (\n    a.b()\n    .c(1)\n)\n")
    assert text.called_name(Place(3, 3, 5, 9)) == (3, 5)
    assert text.called_name(Place(2, 2, 4, 9)) == (2, 6)
    assert text.called_name(Place(1, 1, 0, 1)) is None


def test_names_of_code_are_those_of_the_text() -> None:
    assert plain_name("A.f.<locals>.g") == "A.f.g"
    assert plain_name("A.f.<locals>.<lambda>") == "A.f"
    assert plain_name("<module>") == ""
    assert plain_name("f.<locals>.<listcomp>.<lambda>") == "f"
    assert by_count(iter("abcab")) == [("a", 2), ("b", 2), ("c", 1)]
