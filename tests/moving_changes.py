"""What happens to a work tree between two questions: by editors, by shells and by git. Each change is drawn, made, and told in words."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

from moving_program import Program, grown, module_name, new_function, new_name, read_program, with_imports

_GIT = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false", "-c", "core.editor=true")


def git(root: Path, *words: str) -> bool:
    """Whether git did it; it may refuse, as it does where files differ."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", "-C", str(root), *_GIT, *words], env=environment, capture_output=True, check=False).returncode == 0


def begin_history(root: Path) -> None:
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")


def put(path: Path, text: str) -> None:
    """In one step, as an editor saves."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.saving")
    aside.write_text(text)
    aside.replace(path)


def _sources(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py") if not {".lspidx", ".git"} & {*path.parts})


def _grow(chance: Random, root: Path, program: Program) -> str:
    path = chance.choice([one for one in _sources(root) if one not in program.broken])
    put(root / path, grown(chance, program, path))
    return f"a definition is added to {path}"


def _append(chance: Random, root: Path, program: Program) -> str:
    """By a shell, into the file as it is: its last function calls one more, or a remark is added."""
    path = chance.choice([one for one in _sources(root) if one not in program.broken])
    with (root / path).open("a") as file:
        file.write(f"# remark {chance.randrange(1000)}\n")
    return f"a remark at the end of {path}"


def new_body(chance: Random, program: Program, name: str) -> tuple[str, list[str]]:
    """Another text for a function or method, without indentation, and its imports."""
    item = program.definitions[name]
    owner = name.rpartition(".")[0] if item.kind == "method" else ""
    return new_function(chance, program, item.path, name.rpartition(".")[2], owner)


def _body(chance: Random, root: Path, program: Program) -> str:
    name = chance.choice(program.names("function", "method") or [""])
    if not name:
        return _append(chance, root, program)
    item = program.definitions[name]
    code, imports = new_body(chance, program, name)
    indent = "    " if item.kind == "method" else ""
    lines = program.texts[item.path].splitlines()
    lines[item.first - 1 : item.last] = [indent + line for line in code.splitlines()]
    (root / item.path).write_text(with_imports("\n".join(lines), imports))
    return f"the body of {name} is another one"


def _shift(chance: Random, root: Path, program: Program) -> str:
    path = chance.choice(_sources(root))
    text = (root / path).read_text()
    at = 1 if text.startswith('"""') else 0
    lines = text.splitlines(keepends=True)
    put(root / path, "".join([*lines[:at], "# a remark\n" * chance.randrange(1, 3), *lines[at:]]))
    return f"all of {path} moves down"


def _remove(chance: Random, root: Path, program: Program) -> str:
    """A definition goes, whoever uses it."""
    name = chance.choice(program.names("function", "class") or [""])
    if not name:
        return _append(chance, root, program)
    item = program.definitions[name]
    lines = program.texts[item.path].splitlines()
    del lines[item.first - 1 : item.last]
    put(root / item.path, "\n".join(lines) + "\n")
    return f"{name} is removed by hand"


def _same_size_and_time(chance: Random, root: Path, program: Program) -> str:
    """One letter of a name is another one, everywhere in one file, and the time is set back (`touch -r`)."""
    name = chance.choice(program.names("function") or [""])
    if not name:
        return _append(chance, root, program)
    path = root / program.definitions[name].path
    before, short = path.stat(), name.rpartition(".")[2]
    path.write_text(re.sub(rf"\b{short}\b", short[:-1] + ("x" if short[-1] != "x" else "y"), path.read_text()))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return f"{name} has another last letter in its file, whose time is set back"


def _mode(chance: Random, root: Path, program: Program) -> str:
    path = chance.choice(_sources(root))
    (root / path).chmod(chance.choice((0o644, 0o755, 0o600)))
    return f"the mode of {path}"


def _touch(chance: Random, root: Path, program: Program) -> str:
    path = chance.choice(_sources(root))
    os.utime(root / path)
    return f"{path} is touched"


def _new_file(chance: Random, root: Path, program: Program) -> str:
    name = chance.choice(("thing/new", "thing/inner/new", "thing/fresh/new", "tests/test_new", "thing/secret_", "new"))
    path = f"{name}{chance.randrange(3)}.py"
    put(root / path, grown(chance, program, path) if path not in program.texts else program.texts[path] + "# again\n")
    return f"{path} is new"


def _delete_file(chance: Random, root: Path, program: Program) -> str:
    paths = [path for path in _sources(root) if not path.endswith("__init__.py")]
    if len(paths) < 5:
        return _append(chance, root, program)
    path = chance.choice(paths)
    (root / path).unlink()
    return f"{path} is deleted"


def _renamed_in(text: str, old: str, new: str) -> str:
    """With the name of a module replaced where the text spells it."""
    text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    old_base, _, old_last = old.rpartition(".")
    _, _, new_last = new.rpartition(".")
    return re.sub(rf"\bfrom {re.escape(old_base)} import {old_last}\b", f"from {old_base} import {new_last}", text)


def _rename_file(chance: Random, root: Path, program: Program) -> str:
    """And those that import it are told, or are not."""
    paths = [path for path in _sources(root) if not path.endswith("__init__.py") and not path.startswith("tests/")]
    path = chance.choice(paths) if paths else ""
    new = f"{path.removesuffix('.py').rstrip('0123456789')}{chance.randrange(10)}.py"
    if not paths or (root / new).exists():
        return _append(chance, root, program)
    (root / path).rename(root / new)
    return _told(chance, root, module_name(path), module_name(new), f"{path} is now {new}")


def _rename_folder(chance: Random, root: Path, program: Program) -> str:
    folders = sorted(path for path in (root / "thing").iterdir() if path.is_dir() and path.name != "__pycache__")
    if not folders:
        return _append(chance, root, program)
    old = chance.choice(folders)
    new = old.with_name(chance.choice(("inner", "outer", "deep")))
    if new.exists():
        return _append(chance, root, program)
    shutil.move(old, new)
    return _told(chance, root, f"thing.{old.name}", f"thing.{new.name}", f"the folder {old.name} is now {new.name}")


def _told(chance: Random, root: Path, old: str, new: str, said: str) -> str:
    if chance.random() < 0.4:
        return f"{said}, and nobody is told"
    for path in _sources(root):
        text = (root / path).read_text()
        if (changed := _renamed_in(text, old, new)) != text:
            put(root / path, changed)
    return f"{said}, with its imports"


def _project(chance: Random, root: Path, program: Program) -> str:
    """The project file: its version, its name, or a table that nobody reads."""
    kind = chance.randrange(4)
    path = root / "pyproject.toml"
    text = path.read_text() if path.is_file() else '[project]\nname = "thing"\nversion = "1"\n'
    if kind == 0:
        text = re.sub(r'version = "\d+"', f'version = "{chance.randrange(9)}"', text)
    elif kind == 1:
        text = re.sub(r'name = "\w+"', f'name = "{chance.choice(("thing", "other", "more"))}"', text)
    elif kind == 2:
        text = text.partition("\n[tool.nobody]")[0] + f"\n[tool.nobody]\nx = {chance.randrange(9)}\n"
    else:
        text = text.partition("\n[tool.pytest")[0] + '\n[tool.pytest.ini_options]\npythonpath = ["."]\n'
    put(path, text)
    return f"the project file ({kind})"


def _ignore(chance: Random, root: Path, program: Program) -> str:
    path = root / ".gitignore"
    rule = chance.choice(("thing/new1.py", "thing/inner/", "secret_*.py", "new*.py"))
    lines = path.read_text().splitlines() if path.is_file() else [".lspidx"]
    put(path, "\n".join([line for line in lines if line != rule] if rule in lines else [*lines, rule]) + "\n")
    return f"the rule {rule} of .gitignore comes or goes"


def _half_saved(chance: Random, root: Path, program: Program) -> str:
    """A file that does not parse, as while somebody types; or such a file is mended."""
    if program.broken:
        for path in program.broken:
            text = (root / path).read_text()
            put(root / path, text.removesuffix("def half(:\n"))
        return f"{program.broken} parse again"
    path = chance.choice(_sources(root))
    with (root / path).open("a") as file:
        file.write("def half(:\n")
    return f"{path} does not parse"


# ---- git


def _commit(chance: Random, root: Path, program: Program) -> str:
    git(root, "add", "-A")
    return f"commit: {git(root, 'commit', '-qm', 'more')}"


def _checkout_file(chance: Random, root: Path, program: Program) -> str:
    path = chance.choice(_sources(root))
    return f"git checkout {path}: {git(root, 'checkout', '-q', 'HEAD', '--', path)}"


def _branch(chance: Random, root: Path, program: Program) -> str:
    """Another branch, made here or as it was; whatever is not committed is, or goes along."""
    if chance.random() < 0.6:
        _commit(chance, root, program)
    name = chance.choice(("main", "one", "two"))
    return f"branch {name}: {git(root, 'checkout', '-q', name) or git(root, 'checkout', '-q', '-b', name)}"


def _stash(chance: Random, root: Path, program: Program) -> str:
    if git(root, "stash", "pop", "-q"):
        return "stash pop"
    git(root, "checkout", "-q", "-f", "HEAD") if git(root, "diff", "--quiet", "--diff-filter=U") is False else None
    return f"stash: {git(root, 'stash', 'push', '-q', *(['-u'] if chance.random() < 0.5 else []))}"


def _rebase(chance: Random, root: Path, program: Program) -> str:
    _commit(chance, root, program)
    onto = chance.choice(("main", "one", "two"))
    if git(root, "rebase", "-q", onto):
        return f"rebase onto {onto}"
    git(root, "rebase", "--abort")
    return f"rebase onto {onto} stops and is given up"


def _reset(chance: Random, root: Path, program: Program) -> str:
    to = chance.choice(("HEAD", "HEAD~1", "HEAD"))
    git(root, "reset", "-q", "--hard", to)
    if chance.random() < 0.5:
        git(root, "clean", "-qfd")
    return f"reset to {to}"


_Change = Callable[[Random, Path, Program], str]
CHANGES: dict[_Change, int] = {
    _grow: 10,
    _append: 4,
    _body: 12,
    _shift: 6,
    _remove: 5,
    _same_size_and_time: 6,
    _mode: 2,
    _touch: 2,
    _new_file: 5,
    _delete_file: 3,
    _rename_file: 5,
    _rename_folder: 3,
    _project: 3,
    _ignore: 2,
    _half_saved: 3,
    _commit: 4,
    _checkout_file: 3,
    _branch: 5,
    _stash: 4,
    _rebase: 3,
    _reset: 2,
}
"""Each with its weight."""
AT_ONCE: dict[_Change, int] = {_grow: 3, _shift: 1, _remove: 1}
"""Those that change one file in one step, so that whoever looks sees it before or after."""


def change(chance: Random, root: Path, kinds: dict[_Change, int] = CHANGES) -> str:
    """Makes one change; what it was."""
    [kind] = chance.choices([*kinds], [*kinds.values()])
    return kind(chance, root, read_program(root))


__all__ = ["AT_ONCE", "CHANGES", "begin_history", "change", "git", "new_body", "new_name", "put"]
