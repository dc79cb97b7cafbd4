"""The affected tests as their runners take them on a command line.

What stands on a command line comes from the repository: each word is quoted for a POSIX shell, and none can be taken for an option.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from query.changes.phpunit import SELECTOR, filter_words
from query.changes.review import AffectedTest
from query.changes.selectors import JUNIT, below, cargo_target, gradle_words, nearest, surefire_words

MOST_CHARS = 100_000
"""Longer command lines name files in place of tests: a shell takes 128 kB per word and 2 MB in all."""

_JAVASCRIPT = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte")
_GRADLE = ("build.gradle", "build.gradle.kts")
_GO_RUN = re.compile(r"(Test|Example|Fuzz)\w*(/Test\w*)?\Z")
_CARGO_RUN = re.compile(r"[^\W\d]\w*(::[^\W\d]\w*)*")


class Command(msgspec.Struct, kw_only=True):
    """One command line and how many of the tests it runs; whole files if it would be too long.

    `runner`: pytest, go, cargo, maven, gradle, phpunit or vitest.
    """

    runner: str
    line: str
    tests: int


def commands(tests: Sequence[AffectedTest], root: Path, *, most_chars: int = MOST_CHARS) -> list[Command]:
    """One command for pytest; for Go one for each package, for Rust, Java, PHP and JavaScript one for each crate, module or package.

    Tests of languages without a runner of ours are in no command.
    """
    others = (_go, _cargo, _java, _phpunit, _vitest)
    made = [*_pytest(tests, most_chars), *(item for make in others for item in make(tests, root))]
    return [item for item in made if item.tests]


def selectors(tests: Iterable[AffectedTest]) -> list[str]:
    """Each test as its runner selects it, nearest first, each once."""
    return list(dict.fromkeys(_word(test.selector) for test in tests))


def _word(text: str) -> str:
    """A path or name that no runner takes for an option, and no CI for a command of its own."""
    return f"./{text}" if text.startswith(("-", ":", "@", "#")) else text


def _line(*words: str) -> str:
    return " ".join(shlex.quote(word) for word in words)


def _pytest(tests: Sequence[AffectedTest], most_chars: int) -> list[Command]:
    mine = [test for test in tests if test.runner == "pytest"]
    words = selectors(mine)
    line = _line("pytest", *words)
    if len(line) > most_chars:
        line = _line("pytest", *dict.fromkeys(_word(test.path) for test in mine))
    return [Command(runner="pytest", line=line, tests=len(words))]


def _go(tests: Sequence[AffectedTest], root: Path) -> list[Command]:
    """`go test` takes one expression for all its packages, so each package gets a command: names repeat from package to package.

    So does each test function that runs a suite of which not all is to be run: what is behind a slash belongs to what is in front of it.
    """
    by_package: dict[tuple[str, str], dict[str, None]] = {}
    for test in tests:
        if test.runner == "go" and _GO_RUN.match(test.selector):
            folder = os.path.dirname(test.path)
            module = nearest(root, folder, "go.mod")
            by_package.setdefault((module, below(folder, module)), {})[test.selector] = None
    made: list[Command] = []
    for (module, package), names in sorted(by_package.items()):
        whole = [name for name in names if "/" not in name]
        parts: dict[str, list[str]] = {}
        for function, _, method in (name.partition("/") for name in names if "/" in name):
            if function not in names:
                parts.setdefault(function, []).append(method)
        runs = [(f"^({'|'.join(whole)})$", len(whole))] if whole else []
        runs += [(f"^{function}$/^({'|'.join(methods)})$", len(methods)) for function, methods in parts.items()]
        start = ("go", "test", *(["-C", module] if module else []), "-run")
        made += [Command(runner="go", line=_line(*start, run, f"./{package}".rstrip("/")), tests=number) for run, number in runs]
    return made


def _cargo(tests: Sequence[AffectedTest], root: Path) -> list[Command]:
    """One command for each crate and what of it the tests are compiled into: names repeat from one to the other.

    Tests that are run as several are named by their beginning, which may be another's, too.
    """
    by_target: dict[tuple[str, tuple[str, ...], bool], dict[str, None]] = {}
    for test in tests:
        if test.runner == "cargo" and _CARGO_RUN.fullmatch(test.selector):
            crate = nearest(root, os.path.dirname(test.path), "Cargo.toml")
            by_target.setdefault((crate, cargo_target(root, test.path), test.cases), {})[test.selector] = None
    return [
        Command(
            runner="cargo",
            line=_line(
                "cargo", "test", *(["--manifest-path", f"{crate}/Cargo.toml"] if crate else []), *target, "--",
                *([] if cases else ["--exact"]), *names,
            ),
            tests=len(names),
        )
        for (crate, target, cases), names in sorted(by_target.items())
    ]  # fmt: skip


def _java(tests: Sequence[AffectedTest], root: Path) -> list[Command]:
    """One command for each module of Maven, or project of Gradle; what a module needs of others is built with it."""
    by_module: dict[tuple[str, bool], dict[str, None]] = {}
    for test in tests:
        if test.runner == "junit" and JUNIT.fullmatch(test.selector):
            folder = os.path.dirname(test.path)
            nearest_of = {nearest(root, folder, marker): marker for marker in _GRADLE}
            gradle = max(nearest_of, key=len)
            maven = nearest(root, folder, "pom.xml")
            is_gradle = not (root / maven / "pom.xml").is_file() or (
                len(gradle) > len(maven) and (root / gradle / nearest_of[gradle]).is_file()
            )
            by_module.setdefault((gradle if is_gradle else maven, is_gradle), {})[test.selector] = None
    made: list[Command] = []
    for (module, is_gradle), names in sorted(by_module.items()):
        if is_gradle:
            start = ["./gradlew" if (root / "gradlew").is_file() else "gradle", *(["-p", module] if module else []), "test"]
            made.append(Command(runner="gradle", line=_line(*start, *gradle_words(list(names))), tests=len(names)))
        else:
            inside = ["-pl", module, "-am"] if module and (root / "pom.xml").is_file() else ["-f", module] if module else []
            made.append(Command(runner="maven", line=_line("mvn", *inside, "test", *surefire_words(list(names))), tests=len(names)))
    return made


def _phpunit(tests: Sequence[AffectedTest], root: Path) -> list[Command]:
    """One command for each package of Composer: PHPUnit reads its settings where it is started."""
    by_package: dict[str, dict[str, None]] = {}
    for test in tests:
        if test.runner == "phpunit" and SELECTOR.fullmatch(test.selector):
            package = nearest(root, os.path.dirname(test.path), "composer.json")
            by_package.setdefault(package, {})[test.selector] = None
    return [
        Command(
            runner="phpunit",
            line=_line(
                f"{package}/vendor/bin/phpunit" if package else "vendor/bin/phpunit",
                *(["-c", package] if package else []), *filter_words(names),
            ),
            tests=len(names),
        )
        for package, names in sorted(by_package.items())
    ]  # fmt: skip


def _vitest(tests: Sequence[AffectedTest], root: Path) -> list[Command]:
    by_package: dict[str, dict[str, None]] = {}
    for test in tests:
        if test.runner == "file" and test.path.lower().endswith(_JAVASCRIPT):
            package = nearest(root, os.path.dirname(test.path), "package.json")
            by_package.setdefault(package, {})[_word(below(test.path, package))] = None
    return [
        Command(
            runner="vitest",
            line=_line("npx", "vitest", "run", *(["--root", package] if package else []), *paths),
            tests=len(paths),
        )
        for package, paths in sorted(by_package.items())
    ]
