"""Documentation of a fully qualified name from the toolchain that is here: go doc, pydoc, the pages of rustdoc.

Offline, and in 10 seconds at most.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from indexer.drive.process import clean_environment
from indexer.languages import GO, PYTHON, RUST, names_of, record_of
from indexer.python_project import find_project
from query.toolchain import rustdoc
from query.toolchain.diagnostics import plain
from query.toolchain.start import Finished, run_command

TIMEOUT_S = 10.0
_MAX_CHARS = 60_000
_MAX_BYTES = 4 << 20
_DESCRIBE = Path(__file__).with_name("describe_python.py")
_OFFLINE_GO = {"GOTOOLCHAIN": "local", "GOPROXY": "off"}
_OFFLINE_RUST = {"RUSTUP_AUTO_INSTALL": "0", "CARGO_NET_OFFLINE": "true"}
_NAMES = {
    "go doc": re.compile(r"\w(?!.*\.\.)[\w./~-]*"),
    "pydoc": re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"),
    "rustdoc": re.compile(r"[^\W\d]\w*(?:::[^\W\d]\w*)*!?"),
}


class Described(msgspec.Struct, kw_only=True):
    """What a toolchain says of a name. error: why it says nothing; then doc and signature are empty.

    tool: name and version of what was asked. cut: the text was longer than what is kept.
    """

    language: str
    doc: str = ""
    signature: str = ""
    error: str = ""
    tool: str = ""
    elapsed_ms: int = 0
    cut: bool = False


def describe(language: str, name: str, *, root: Path, folder: Path, own_environment: bool, timeout_s: float = TIMEOUT_S) -> Described:
    """Asks the toolchain of a language.

    Args:
        folder: where it is asked, below `root`: which module or crate is meant.
        own_environment: whether a Python that lies in the workspace may be started; else the machine's is asked.
    """
    began = time.monotonic()
    by = record_of(language).documented_by
    if not by:
        known = ", ".join(names_of(lambda rules: bool(rules.documented_by)))
        return Described(language=language, error=f"the toolchain of {language} documents no names; known: {known}")
    if len(name) > 500 or not _NAMES[by].fullmatch(name):
        return Described(language=language, error=f"'{name}' is not a qualified name of {language}")
    with tempfile.TemporaryDirectory(prefix="lspidx-doc-") as scratch:
        found = _ASK[by](name, _Place(root=root, folder=folder, own=own_environment, deadline=began + timeout_s, scratch=Path(scratch)))
    text = plain(found.doc)
    return msgspec.structs.replace(
        found,
        doc=text[:_MAX_CHARS],
        signature=plain(found.signature)[:_MAX_CHARS],
        error=plain(found.error)[:2_000],
        cut=len(text) > _MAX_CHARS,
        elapsed_ms=int((time.monotonic() - began) * 1000),
    )


class _Place(msgspec.Struct, kw_only=True):
    root: Path
    folder: Path
    own: bool
    deadline: float
    scratch: Path


def _run(command: list[str], place: _Place, environment: Mapping[str, str], cwd: Path) -> tuple[Finished, str, str]:
    """How it ended, what it printed, and why it cannot be used: a timeout, a missing program, its own words."""
    done = run_command(command, cwd=cwd, environment=environment, timeout_s=max(0.0, place.deadline - time.monotonic()), into=place.scratch)
    out = done.stdout.read_bytes()[:_MAX_BYTES].decode("utf-8", "replace")
    if done.exit_code == 0:
        return done, out, ""
    said = done.stderr.read_bytes()[:4_000].decode("utf-8", "replace").strip() or out[:500].strip()
    shown = os.path.basename(command[0])
    if done.timed_out:
        return done, out, f"{shown} did not answer in time"
    return done, out, done.problem or said or f"{shown} ended with {done.exit_code}"


def _which(name: str) -> str:
    return shutil.which(name, path=clean_environment({}).get("PATH", "")) or ""


# ---- Go


def _go(name: str, place: _Place) -> Described:
    program = _which("go")
    if not program:
        return Described(language=GO.name, error="there is no 'go' on PATH")
    tool = f"go doc {_number(_run([program, 'version'], place, _OFFLINE_GO, place.scratch)[1])}"
    _, text, error = _run([program, "doc", name], place, _OFFLINE_GO, place.folder)
    if error:
        return Described(language=GO.name, error=error, tool=tool)
    signature, doc = _split_go(text)
    return Described(language=GO.name, doc=doc, signature=signature, tool=tool)


def _split_go(text: str) -> tuple[str, str]:
    """The first declaration, and what follows it without its indentation."""
    lines = text.strip("\n").split("\n")
    if lines and lines[0].startswith("package "):
        if len(lines) < 3 or not re.match(r"(func|type|const|var|    )", lines[2]):  # a package: its text is not indented
            return lines[0], "\n".join(lines[1:]).strip()
        lines = lines[2:]
    end = 1
    if lines and lines[0].rstrip().endswith(("{", "(")):
        end = next((number for number, line in enumerate(lines, 1) if line in ("}", ")")), 1)
    rest = [line.removeprefix("    ") for line in lines[end:]]
    return "\n".join(lines[:end]), "\n".join(rest).strip()


def _number(text: str) -> str:
    match = re.search(r"\d+(?:\.\d+)+", text)
    return match.group() if match else "unknown"


# ---- Python


def _python(name: str, place: _Place) -> Described:
    # what is activated may be the workspace's own: where that must not be started, nothing of the caller's environment counts
    environment = dict(os.environ) if place.own else {}
    folders = [place.folder, place.root] if place.own else [place.scratch]
    found = [
        find_project(folder, [], python="", source_roots=[], environment=environment, own_prefix=sys.prefix, base_prefix=sys.base_prefix)
        for folder in folders
    ]
    project = next((item for item in found if item.found_by.startswith("folder")), found[-1])
    if project.interpreter is None:
        return Described(language=PYTHON.name, error=f"no Python was found for the project ({project.found_by})")
    _, text, error = _run([str(project.interpreter), "-I", str(_DESCRIBE), name], place, {}, place.scratch)
    try:
        said = json.loads(text)
        tool = f"pydoc {said['version']}"
    except (ValueError, KeyError, TypeError):
        return Described(language=PYTHON.name, error=error or "the interpreter's answer cannot be read", tool="pydoc unknown")
    if said.get("error"):
        return Described(language=PYTHON.name, error=f"{said['error']} (asked: the Python by {project.found_by})", tool=tool)
    return Described(language=PYTHON.name, doc=str(said.get("doc", "")), signature=str(said.get("signature", "")), tool=tool)


# ---- Rust


def _rust(name: str, place: _Place) -> Described:
    above = [folder for folder in (place.folder, *place.folder.parents) if folder == place.root or place.root in folder.parents]
    pages = [folder / "target" / "doc" for folder in above]
    roots = [folder for folder in pages if folder.resolve().is_relative_to(place.root.resolve())]
    program = _which("rustc")
    tool = "rustdoc"
    if program:
        tool = f"rustdoc {_number(_run([program, '--version'], place, _OFFLINE_RUST, place.scratch)[1])}"
        _, sysroot, _ = _run([program, "--print", "sysroot"], place, _OFFLINE_RUST, place.scratch)
        if sysroot.strip():
            roots.append(Path(sysroot.strip()) / "share" / "doc" / "rust" / "html")
    present = [root for root in roots if root.is_dir()]
    page = rustdoc.look_up(name, present)
    if page is not None:
        return Described(language=RUST.name, doc=page.doc, signature=page.signature, tool=tool)
    if not present:
        detail = "there are no pages of rustdoc here; to get them: rustup component add rust-docs, and for crates: cargo doc"
    else:
        detail = f"no page of rustdoc has '{name}'; pages of crates are made by: cargo doc"
    return Described(language=RUST.name, error=detail, tool=tool)


_ASK: Mapping[str, Callable[[str, _Place], Described]] = {"pydoc": _python, "go doc": _go, "rustdoc": _rust}
