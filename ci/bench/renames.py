"""`python -m ci.bench.renames`: does a package still import, and pass its own tests, after a symbol of it was renamed?

Functions, methods, classes, parameters, attributes and variables of real packages are drawn, and renamed by `rename_symbol` with `apply`
and no consent to any doubt, in work trees that differ from the index: files have remarks and new statements that are not committed, a
file is new, and earlier renames stay for some steps. After each that is written
every file must parse, every module must be importable that was before, no test may fail that passed before, and ty must find each name
that it found before. Sources come from the registry.
Exits with 1 where a rename broke something.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from ci.bench import sdists
from indexer.errors import EditRefused, LspidxError
from query.surface.service import Service


class Package(NamedTuple):
    """below: the folder that is put on the path. tests: what its suite is asked to run; nothing where that takes more than seconds."""

    requirement: str
    below: str
    top: str
    tests: tuple[str, ...] = ()


_OF_CLICK = ("arguments", "basic", "commands", "context", "formatting", "options", "parser", "shell_completion", "types")
"""Those of pagers and terminals wait, and fail now and then."""
PACKAGES: Mapping[str, Package] = {
    "click": Package("click==8.2.1", "src", "click", tuple(f"tests/test_{name}.py" for name in _OF_CLICK)),
    "flask": Package("flask==3.1.0", "src", "flask", ("tests",)),
    "jinja2": Package("jinja2==3.1.6", "src", "jinja2", ("tests",)),
    "werkzeug": Package(
        "werkzeug==3.1.3", "src", "werkzeug", ("tests/test_datastructures.py", "tests/test_routing.py", "tests/test_http.py")
    ),
    "markdown": Package("markdown==3.8", ".", "markdown", ("tests/test_syntax", "tests/test_apis.py")),
    "attrs": Package("attrs==25.3.0", "src", "attr"),
    "requests": Package("requests==2.32.3", "src", "requests"),
    "rich": Package("rich==14.0.0", ".", "rich"),
    "itsdangerous": Package("itsdangerous==2.2.0", "src", "itsdangerous", ("tests",)),
}
ENVIRONMENT = (
    "pytest==8.4.2", "blinker==1.9.0", "Jinja2==3.1.6", "Werkzeug==3.1.3", "MarkupSafe==3.0.2", "click==8.2.1", "itsdangerous==2.2.0",
    "freezegun==1.5.5", "trio==0.30.0", "Pygments==2.19.1", "markdown-it-py==3.0.0", "urllib3==2.4.0", "idna==3.10", "certifi==2025.4.26",
    "charset-normalizer==3.4.2", "ephemeral-port-reserve==1.1.4", "pytest-timeout==2.4.0", "cryptography==45.0.3", "watchdog==6.0.0",
)  # fmt: skip
KINDS = ("function", "method", "class", "parameter", "attribute", "variable")
_TIMEOUT_S = 300
_STEPS = 5
"""After so many renames that were written the tree is put back."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_IMPORT_ALL = """
import importlib, json, sys
broken = {}
for name in json.loads(sys.argv[1]):
    try:
        importlib.import_module(name)
    except BaseException as error:
        broken[name] = f"{type(error).__name__}: {error}"
print(json.dumps(broken))
"""
_NAMES = (
    "unresolved-reference",
    "unresolved-attribute",
    "unresolved-import",
    "unknown-argument",
    "missing-argument",
    "possibly-missing-attribute",
)
"""What ty finds where a name is left behind."""


class Site(NamedTuple):
    """Where a symbol is defined; 1-based."""

    kind: str
    name: str
    path: str
    line: int
    col: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """outcome: written, refused, or an error's class. broken: what no longer works. why: of a refusal."""

    package: str
    kind: str
    name: str
    place: str
    new_name: str
    outcome: str
    broken: list[str]
    why: str = ""


# ---- what is drawn


def sites(root: Path, package: Package) -> list[Site]:
    """All that can be renamed in the package itself, without what Python calls by its name."""
    found: list[Site] = []
    for file in sorted((root / package.below / package.top).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        path = file.relative_to(root).as_posix()
        found += [site for site in _sites(path, text) if not site.name.startswith("__") and site.name not in ("self", "cls", "_")]
    return found


def _sites(path: str, text: str) -> Iterator[Site]:
    lines = text.splitlines()

    def column(line: int, byte: int) -> int:
        return len(lines[line - 1].encode()[:byte].decode()) + 1

    def walk(node: ast.AST, holder: str) -> Iterator[Site]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                kind = "class" if isinstance(child, ast.ClassDef) else "method" if holder == "class" else "function"
                col = lines[child.lineno - 1].index(child.name, len(lines[child.lineno - 1]) - len(lines[child.lineno - 1].lstrip()) + 4)
                yield Site(kind, child.name, path, child.lineno, col + 1)
                if not isinstance(child, ast.ClassDef):
                    for argument in (*child.args.args, *child.args.kwonlyargs):
                        yield Site("parameter", argument.arg, path, argument.lineno, column(argument.lineno, argument.col_offset))
                yield from walk(child, "class" if isinstance(child, ast.ClassDef) else "function")
                continue
            if isinstance(child, ast.Assign | ast.AnnAssign):
                for target in child.targets if isinstance(child, ast.Assign) else [child.target]:
                    if isinstance(target, ast.Name) and holder in ("", "class"):
                        kind = "attribute" if holder else "variable"
                        yield Site(kind, target.id, path, target.lineno, column(target.lineno, target.col_offset))
                    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                        end = column(target.lineno, target.end_col_offset or 0)
                        yield Site("attribute", target.attr, path, target.lineno, end - len(target.attr))
            yield from walk(child, holder)

    yield from walk(ast.parse(text), "")


def disturb(root: Path, package: Package, draw: random.Random, number: int) -> str:
    """One change that is not committed."""
    top = root / package.below / package.top
    files = sorted(top.rglob("*.py"))
    file = draw.choice(files)
    kind = draw.randrange(4)
    text = file.read_text(encoding="utf-8")
    if kind == 0:
        with file.open("a", encoding="utf-8") as out:
            out.write(f"# a remark {number}\n")
    elif kind == 1:
        with file.open("a", encoding="utf-8") as out:
            out.write(f"\n\ndef added_{number}() -> int:\n    return {number}\n")
    elif kind == 2 and (returns := [match.start() for match in re.finditer(r"\n        return ", text)]):
        at = draw.choice(returns)
        changed = f"{text[:at]}\n        added = {number}  # noqa{text[at:]}"
        if _parses(changed):
            file.write_text(changed, encoding="utf-8")
    else:
        functions = [site for site in _sites(file.relative_to(root).as_posix(), text) if site.kind in ("function", "class")]
        functions = [site for site in functions if re.search(rf"^(?:async )?(?:def|class) {site.name}\b", text, re.MULTILINE)]
        if functions and "__main__" not in file.name:
            used = draw.choice(functions).name
            module = ".".join(file.relative_to(root / package.below).with_suffix("").parts).removesuffix(".__init__")
            new = top / f"added_{number}.py"
            new.write_text(f"from {module} import {used}\n\n\ndef use_{number}():\n    return {used}\n", encoding="utf-8")
            return f"{new.name} is new"
    return f"{file.name} ({kind})"


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


# ---- what still works


class Health(NamedTuple):
    """Modules that cannot be imported, tests that fail, names that ty does not find, each with a word."""

    modules: dict[str, str]
    tests: frozenset[str]
    names: Counter[str]


def health(root: Path, package: Package, python: Path) -> Health:
    """Of the package as it is now."""
    below = root / package.below
    files = sorted((below / package.top).rglob("*.py"))
    names = [".".join(file.relative_to(below).with_suffix("").parts).removesuffix(".__init__") for file in files]
    environment = {**os.environ, "PYTHONPATH": str(below), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400"}
    words = [str(python), "-c", _IMPORT_ALL, json.dumps([name for name in names if not name.endswith("__main__")])]
    done = _run(words, root, environment)
    modules = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"everything": done.stderr[-300:]}
    ty = _run(
        [
            str(Path(sys.executable).with_name("ty")),
            "check",
            "--output-format",
            "concise",
            "--python",
            str(python.parent.parent),
            str(below / package.top),
        ],
        root,
        environment,
    )
    missing = Counter(re.sub(r":\d+:\d+:", ":", line) for line in ty.stdout.splitlines() if any(f"[{name}]" in line for name in _NAMES))
    return Health(modules, frozenset(_failing(root, package, python, environment)), missing)


def _failing(root: Path, package: Package, python: Path, environment: Mapping[str, str]) -> Iterable[str]:
    if not package.tests:
        return ()
    words = [str(python), "-m", "pytest", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-W", "ignore", "--timeout=60"]
    done = _run([*words, "--continue-on-collection-errors", *package.tests], root, environment)
    found = _FAILED.findall(done.stdout)
    return found if done.returncode in (0, 1) else [*found, f"the suite ended with {done.returncode}"]


def _run(words: Sequence[str], root: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=root, env=dict(environment), capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)


def broken(before: Health, after: Health, old: str, new: str) -> list[str]:
    """What works no longer. A test that carries the name goes under the new one."""
    found = [f"import {name}: {why}" for name, why in after.modules.items() if name not in before.modules]
    found += [f"test {name}" for name in sorted(after.tests - before.tests - {re.sub(rf"\b{old}\b", new, test) for test in before.tests})]
    gone = Counter({re.sub(rf"\b{re.escape(old)}\b", new, line): count for line, count in before.names.items()})
    left = after.names - before.names - gone
    return found + [f"ty: {line}" for line in sorted(left)]


# ---- a package


def renames(root: Path, name: str, python: Path, number: int, seed: int) -> Iterator[Row]:
    """So many renames of symbols of one package."""
    package, draw = PACKAGES[name], random.Random(f"{seed} {name}")
    git(root, "reset", "-q", "--hard")
    git(root, "clean", "-qfdx", "-e", ".lspidx")
    subprocess.run([sys.executable, "-m", "query.cli", "index", "-q", "--python", str(python.parent.parent), str(root)], check=True)
    service = Service(root, max_chars=0)  # what writes waits until the index is up to date
    steps, clean = 0, health(root, package, python)
    try:
        for count in range(number):
            for _ in range(draw.choice((0, 1, 1, 2))):
                disturb(root, package, draw, count)
            kind = draw.choice(KINDS)
            choice = [site for site in sites(root, package) if site.kind == kind]
            if not choice:
                continue
            site = draw.choice(choice)
            new = f"{site.name}_renamed" if draw.random() < 0.8 else f"{site.name.rstrip('_')[:-1] or 'q'}q"
            row = _renamed(service, root, package, name, site, new, python, clean)
            print(f"{name} {count}: {row.kind} {row.name} at {row.place}: {row.outcome} {row.why[:300]} {row.broken[:3]}", file=sys.stderr)
            yield row
            steps += row.outcome == "written"
            if row.broken or steps >= _STEPS:
                steps = 0
                git(root, "checkout", "-q", "-f", "HEAD")
                git(root, "clean", "-qfd", "-e", ".lspidx")
    finally:
        service.close()


def _renamed(service: Service, root: Path, package: Package, name: str, site: Site, new: str, python: Path, clean: Health) -> Row:
    place = f"{site.path}:{site.line}:{site.col}"
    found = {"package": name, "kind": site.kind, "name": site.name, "place": place, "new_name": new}
    before = {file: file.read_bytes() for file in (root / package.below / package.top).rglob("*.py")}
    try:
        answer = service.ask("rename_symbol", {"symbol": place, "new_name": new, "apply": True})
    except EditRefused as error:
        is_touched = any(file.read_bytes() != text for file, text in before.items())
        return Row(**found, outcome="refused", broken=["files were changed all the same"] if is_touched else [], why=str(error))
    except LspidxError as error:
        return Row(**found, outcome=type(error).__name__, broken=[], why=str(error))
    if not answer.result.edited.applied:
        return Row(**found, outcome="not written", broken=[], why="; ".join(reason.detail for reason in answer.completeness.reasons))
    left = broken(clean, health(root, package, python), site.name, new)
    if left:  # against what was changed by hand, and once more for tests that fail now and then
        after = {file: file.read_bytes() for file in before}
        _put(before)
        known = health(root, package, python)
        _put(after)
        left = sorted({*left} & {*broken(known, health(root, package, python), site.name, new)})
    return Row(**found, outcome="written", broken=left, why=answer.completeness.status)


def _put(texts: Mapping[Path, bytes]) -> None:
    for file, text in texts.items():
        file.write_bytes(text)


def git(root: Path, *words: str) -> None:
    options = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *options, *words], check=True, stdout=subprocess.DEVNULL)


def fetched(folder: Path, name: str) -> Path:
    """The package's sources as a repository of git."""
    requirement = PACKAGES[name].requirement
    stem = requirement.replace("==", "-")
    root = folder / name
    if not root.is_dir():
        sdists.sources(folder, requirement).rename(root)
        (root / "lspidx.toml").unlink(missing_ok=True)
        with (root / ".gitignore").open("a", encoding="utf-8") as rules:
            rules.write("\n.lspidx\n__pycache__\n")
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-qm", stem)
    return root


def environment_of(folder: Path) -> Path:
    python = folder / "environment" / "bin" / "python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "environment")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *ENVIRONMENT], check=True)
    return python


def table(rows: Sequence[Row]) -> str:
    """Markdown: a line for each kind of symbol."""
    lines = ["| kind | asked | written | refused | other errors | broken |", "|---|---:|---:|---:|---:|---:|"]
    for kind in (*KINDS, "all"):
        own = [row for row in rows if kind in (row.kind, "all")]
        count = Counter(row.outcome for row in own)
        others = len(own) - count["written"] - count["refused"]
        lines.append(
            f"| {kind} | {len(own)} | {count['written']} | {count['refused']} | {others} | {sum(bool(row.broken) for row in own)} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.bench.renames", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=[*PACKAGES])
    parser.add_argument("--folder", type=Path, default=Path(".bench/renames"), help="where sources and results are kept")
    parser.add_argument("--number", type=int, default=60, help="renames of each package")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    python = environment_of(folder)
    rows: list[Row] = []
    for name in options.packages:
        root = fetched(folder, name)
        for row in renames(root, name, python, options.number, options.seed):
            rows.append(row)
            with (folder / f"rows-{options.seed}.jsonl").open("a", encoding="utf-8") as out:
                out.write(json.dumps(asdict(row)) + "\n")
    print(table(rows))
    return 1 if any(row.broken for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
