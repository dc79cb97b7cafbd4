"""Files that a server needs beside the repository, written into our own cache folder and never into the repository.

`compile_commands.json` for clangd, whose index then lies beside it: the project's own, or made of compile_flags.txt, or guessed.
`rust-project.json` for rust-analyzer, where cargo cannot say how the crates belong together (`indexer.cargo`).
`go.work` for gopls, so that an import leads from one workspace folder into another.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from indexer.crawl.plan import PlannedDocument
from indexer.workspace import Folder

_DATABASES = ("", "build", "out", "cmake-build-debug", "cmake-build-release", "builddir")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm")


def compile_commands(root: Path, documents: Sequence[PlannedDocument], folder: Path) -> str:
    """Puts a compilation database for clangd into `folder` and says what it was made of.

    Without one, clangd compiles each file alone, with no include path; the guess adds the root and every folder called `include`
    or `src`, which finds most of a project's own headers.
    """
    target = folder / "compile_commands.json"
    for name in _DATABASES:
        database = root / name / "compile_commands.json"
        if database.is_file():
            content = database.read_bytes()
            if not target.is_file() or target.read_bytes() != content:
                target.write_bytes(content)
            return database.relative_to(root).as_posix()
    flags_file = root / "compile_flags.txt"
    if flags_file.is_file():
        flags = [line.strip() for line in flags_file.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        made_of = "compile_flags.txt"
    else:
        folders = {"", *(part for document in documents for part in _include_folders(document.path))}
        flags = [f"-I{root / part}" for part in sorted(folders)]
        made_of = "guessed: no compile_commands.json, no compile_flags.txt"
    entries = [
        {"directory": str(root), "file": str(root / document.path), "arguments": ["clang", *flags, "-c", str(root / document.path)]}
        for document in documents
        if document.path.lower().endswith(_SOURCES)
    ]
    text = json.dumps(entries, indent=0)
    if not target.is_file() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")
    return made_of


def _include_folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i, part in enumerate(parts) if part in ("include", "src")]


def go_work(folders: Sequence[Folder], folder: Path) -> Path | None:
    """A go.work over the workspace folders that are modules; None where there are not two, or the root has one of its own."""
    modules = [item.path for item in folders if (item.path / "go.mod").is_file()]
    if len(modules) < 2 or (folders[0].path / "go.work").is_file():
        return None
    texts = [(path / "go.mod").read_text(encoding="utf-8", errors="replace") for path in modules]
    versions = [match.group(1) for text in texts if (match := re.search(r"^go\s+(\S+)", text, re.MULTILINE))]
    newest = max(versions, key=lambda text: [int(part) for part in re.findall(r"\d+", text)], default="1.21")
    text = f"go {newest}\n\nuse (\n" + "".join(f"\t{shlex.quote(str(path))}\n" for path in modules) + ")\n"
    target = folder / "go.work"
    if not target.is_file() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")
    return target


def rust_project(text: str, folder: Path) -> Path:
    """Puts a project file for rust-analyzer into `folder`; it knows one by its name."""
    target = folder / "rust-project.json"
    if not target.is_file() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")
    return target
