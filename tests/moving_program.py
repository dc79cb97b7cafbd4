"""Python packages of a small subset, and who uses what in them, read from their text by rules of our own.

The subset: modules that import each other by every form of import, functions, classes with methods and single inheritance, calls by name,
through modules, of `self`, of a constructor's result, and of a variable that is set once. Within it each name means one thing, so what is
known here owes nothing to a language server or to an index. What leaves the subset on the way (text that does not parse, a name that is
bound twice) is `unclear`, and nobody is asked about it.
"""

from __future__ import annotations

import ast
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

VERBS = ("load", "keep", "sort", "join", "send", "draw")
NOUNS = ("page", "node", "item", "rule")
CLASSES = ("Shop", "Book", "Tool", "Lamp", "Gate", "Ring")
METHODS = ("open", "run", "close", "measure", "attach")
MODULES = ("thing/__init__.py", "thing/a.py", "thing/b.py", "thing/c.py", "thing/inner/__init__.py", "thing/inner/d.py", "thing/inner/e.py")
TESTS = ("tests/__init__.py", "tests/test_a.py", "tests/test_d.py")


class Use(NamedTuple):
    """One identifier that means a symbol; 1-based, columns as ASCII. within: the function, class or module around it."""

    path: str
    line: int
    col: int
    role: str
    within: str


@dataclass
class Definition:
    """A function, class or method. `first`: its first line, that of a decorator where it has some; `line`: that of its name."""

    name: str
    kind: str
    path: str
    first: int
    line: int
    col: int
    last: int
    bases: list[str] = field(default_factory=list)

    @property
    def is_private(self) -> bool:
        return self.name.rpartition(".")[2].startswith("_")


class _Module(NamedTuple):
    path: str
    tree: ast.Module
    lines: list[str]


class Program:
    """What the files below a folder say now."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.definitions: dict[str, Definition] = {}
        self.uses: dict[str, list[Use]] = {}
        self.broken: list[str] = []
        self.unclear: set[str] = set()
        self._modules: dict[str, _Module] = {}
        self.bound: dict[str, dict[str, str]] = {}
        self._doubled: list[str] = []
        for path, text in sorted(texts.items()):
            try:
                tree = ast.parse(text)
            except SyntaxError:
                self.broken.append(path)
                continue
            name = module_name(path)
            self.unclear |= {name} if name in self._modules else set()
            self._modules[name] = _Module(path, tree, text.splitlines())
        for name, module in self._modules.items():
            self._define(name, module)
        self.unclear |= {self._resolved(target) or target for target in self._doubled}
        for name, module in self._modules.items():
            for base in (item for item in module.tree.body if isinstance(item, ast.ClassDef)):
                known = [self._meaning(value, name, {}) for value in base.bases]
                self.definitions[f"{name}.{base.name}"].bases = [one for one in known if one is not None]
        for name, module in self._modules.items():
            self._read(name, module)

    # ---- what is asked of it

    def names(self, *kinds: str) -> list[str]:
        """Symbols that each mean one thing, all kinds if none is named."""
        return sorted(name for name, item in self.definitions.items() if self.is_clear(name) and (not kinds or item.kind in kinds))

    def is_clear(self, name: str) -> bool:
        """Whether it, and all around it, is defined once."""
        parts = name.split(".")
        return not any(".".join(parts[:end]) in self.unclear for end in range(1, len(parts) + 1))

    def local(self, name: str) -> str:
        """Its name within its file."""
        return name.removeprefix(f"{module_name(self.definitions[name].path)}.")

    def calls_of(self, name: str) -> set[Use]:
        return {use for use in self.uses.get(name, []) if use.role == "call"}

    def callees(self, name: str) -> set[str]:
        return {callee for callee, uses in self.uses.items() for use in uses if use.within == name and use.role == "call"}

    def subtypes(self, name: str) -> set[str]:
        return {other for other, item in self.definitions.items() if name in item.bases}

    def kin(self, name: str) -> set[str]:
        """Methods of the same name in classes above and below."""
        if self.definitions[name].kind != "method":
            return set()
        container, _, method = name.rpartition(".")
        found, open_ = {container}, [container]
        while open_:
            one = open_.pop()
            near = {*self.subtypes(one), *(self.definitions[one].bases if one in self.definitions else [])} - found
            found |= near
            open_ += near
        return {f"{other}.{method}" for other in found if f"{other}.{method}" in self.definitions} - {name}

    def source(self, name: str) -> str:
        item = self.definitions[name]
        return "\n".join(self._modules[module_name(item.path)].lines[item.first - 1 : item.last])

    def is_used(self, name: str) -> bool:
        """Beyond its own text."""
        return any(use.within != name and not use.within.startswith(f"{name}.") for use in self.uses.get(name, []))

    def outline(self, path: str) -> list[tuple[str, str, int]]:
        found = [item for item in self.definitions.values() if item.path == path]
        return sorted((item.name.rpartition(".")[2], item.kind, item.line) for item in found)

    # ---- reading

    def _define(self, name: str, module: _Module) -> None:
        bound = self.bound[name] = {}
        times: Counter[str] = Counter()
        imported: dict[str, list[str]] = {}

        def define(owner: str, item: ast.FunctionDef | ast.ClassDef, kind: str) -> str:
            own = f"{owner}.{item.name}"
            first = min([item.lineno, *(decorator.lineno for decorator in item.decorator_list)])
            col = module.lines[item.lineno - 1].index(item.name, item.col_offset + (4 if kind != "class" else 6)) + 1
            self.unclear |= {own} if own in self.definitions else set()
            self.definitions[own] = Definition(own, kind, module.path, first, item.lineno, col, item.end_lineno or 0)
            return own

        for item in module.tree.body:
            if isinstance(item, ast.FunctionDef):
                bound[item.name] = define(name, item, "function")
                times[item.name] += 1
            elif isinstance(item, ast.ClassDef):
                bound[item.name] = define(name, item, "class")
                times[item.name] += 1
                for member in item.body:
                    if isinstance(member, ast.FunctionDef):
                        define(bound[item.name], member, "method")
            elif isinstance(item, ast.Import | ast.ImportFrom):
                for local, target in self._imported(name, module.path, item):
                    times[local] += bound.get(local) != target
                    bound[local] = target
                    imported.setdefault(local, []).append(target)
        doubled = [local for local, count in times.items() if count > 1]
        self.unclear |= {f"{name}.{local}" for local in doubled}
        self._doubled += [target for local in doubled for target in imported.get(local, ())]

    def _imported(self, name: str, path: str, item: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
        """Each name that an import binds, with the dotted name that it stands for."""
        for alias in item.names:
            if isinstance(item, ast.Import):
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
            else:
                yield alias.asname or alias.name, f"{_source(name, path, item)}.{alias.name}"

    def _resolved(self, dotted: str, seen: frozenset[str] = frozenset()) -> str | None:
        """The symbol or module that a dotted name stands for, through what its module imports; a symbol before a module of its name."""
        if dotted in self.definitions:
            return dotted
        owner, _, last = dotted.rpartition(".")
        owner = (self._resolved(owner, seen) or owner) if owner and owner not in self._modules else owner
        if f"{owner}.{last}" in self.definitions:
            return f"{owner}.{last}"
        target = self.bound.get(owner, {}).get(last)
        if target is not None and target != dotted and dotted not in seen:
            return self._resolved(target, seen | {dotted})
        return dotted if dotted in self._modules or any(module.startswith(f"{dotted}.") for module in self._modules) else None

    def _meaning(self, value: ast.expr, module: str, local: Mapping[str, str]) -> str | None:
        """The symbol or module that an expression names; `instance of X` for what is one."""
        if isinstance(value, ast.Name):
            if value.id in local:
                return local[value.id]
            target = self.bound[module].get(value.id)
            return None if target is None else self._resolved(target)
        if isinstance(value, ast.Attribute):
            owner = self._meaning(value.value, module, local)
            if owner is None:
                return None
            if owner.startswith(_INSTANCE):
                return self._member(owner.removeprefix(_INSTANCE), value.attr)
            if owner in self.definitions:
                return self._member(owner, value.attr) if self.definitions[owner].kind == "class" else None
            return self._resolved(f"{owner}.{value.attr}")
        if isinstance(value, ast.Call):
            callee = self._meaning(value.func, module, local)
            if callee in self.definitions and self.definitions[callee].kind == "class":
                return f"{_INSTANCE}{callee}"
        return None

    def _member(self, owner: str, name: str, seen: frozenset[str] = frozenset()) -> str | None:
        if f"{owner}.{name}" in self.definitions:
            return f"{owner}.{name}"
        for base in self.definitions[owner].bases if owner in self.definitions and owner not in seen else []:
            if found := self._member(base, name, seen | {owner}):
                return found
        return None

    def _read(self, name: str, module: _Module) -> None:
        def note(symbol: str | None, line: int, col: int, role: str, within: str) -> None:
            if symbol in self.definitions:
                self.uses.setdefault(symbol, []).append(Use(module.path, line, col + 1, role, within))

        def walk(node: ast.AST, within: str, local: dict[str, str], called: ast.expr | None = None) -> None:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias, (bound, target) in zip(node.names, self._imported(name, module.path, node), strict=True):
                    if isinstance(node, ast.ImportFrom):
                        meant = self._resolved(target)
                        note(meant, alias.lineno, alias.col_offset, "import", within)
                        if alias.asname:  # stands for the symbol too
                            note(meant, alias.lineno, (alias.end_col_offset or 0) - len(alias.asname), "import", within)
                        if within != name and meant is not None:
                            local[bound] = meant
                return
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                own = f"{within}.{node.name}"
                outer = [*node.decorator_list, *(node.bases if isinstance(node, ast.ClassDef) else [node.args])]
                for part in outer:
                    walk(part, within, local)
                inner = dict(local)
                if isinstance(node, ast.FunctionDef):
                    inner |= {argument.arg: "" for argument in node.args.args}
                    if within in self.definitions and self.definitions[within].kind == "class" and node.args.args:
                        inner[node.args.args[0].arg] = f"{_INSTANCE}{within}"
                for part in node.body:
                    walk(part, own, inner)
                return
            if isinstance(node, ast.Assign) and within != name and isinstance(node.targets[0], ast.Name):
                walk(node.value, within, local)
                local[node.targets[0].id] = self._meaning(node.value, name, local) or ""
                return
            if isinstance(node, ast.Name | ast.Attribute):
                line, end = node.end_lineno or 0, node.end_col_offset or 0
                width = len(node.id if isinstance(node, ast.Name) else node.attr)
                note(self._meaning(node, name, local), line, end - width, "call" if node is called else "read", within)
            for child in ast.iter_child_nodes(node):
                walk(child, within, local, node.func if isinstance(node, ast.Call) else None)

        for item in module.tree.body:
            walk(item, name, {})


_INSTANCE = "instance of "


def _source(name: str, path: str, item: ast.ImportFrom) -> str:
    """The module that an import names, with the dots before it counted from where it stands."""
    if not item.level:
        return item.module or ""
    package = name.split(".") if path.endswith("__init__.py") else name.split(".")[:-1]
    around = package[: len(package) - item.level + 1]
    return ".".join([*around, *([item.module] if item.module else [])])


def module_name(path: str) -> str:
    """`thing/inner/__init__.py` is `thing.inner`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def read_program(root: Path) -> Program:
    """The files as they are now: those that git knows or does not ignore."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    paths = {path for path in listed.split("\0") if path and not path.startswith(".")}
    return Program({path: (root / path).read_text() for path in paths if (root / path).is_file()})


# ---- making one


def new_files(chance: Random) -> dict[str, str]:
    """A package, its tests and its project file."""
    texts: dict[str, str] = {}
    for path in MODULES + TESTS:
        texts[path] = f'"""{path}"""\n' if not path.endswith("__init__.py") or chance.random() < 0.5 else ""
        for _ in range(chance.randrange(1, 4) if not path.endswith("__init__.py") else chance.randrange(2)):
            texts[path] = grown(chance, Program(texts), path)
    return {"pyproject.toml": '[project]\nname = "thing"\nversion = "1"\n', ".gitignore": ".lspidx\nsecret_*.py\n", **texts}


def grown(chance: Random, program: Program, path: str) -> str:
    """The text of a file with one more function or class at its end, and the imports that it takes."""
    if path.startswith("tests/") and not path.endswith("__init__.py"):
        code, imports = new_function(chance, program, path, f"test_{chance.choice(VERBS)}_{chance.choice(NOUNS)}_{chance.randrange(10)}")
    elif chance.random() < 0.3:
        code, imports = _new_class(chance, program, path)
    else:
        code, imports = new_function(chance, program, path, new_name(chance))
    return with_imports(program.texts.get(path, ""), imports).rstrip("\n") + f"\n\n\n{code}"


def new_name(chance: Random) -> str:
    private = "_" if chance.random() < 0.3 else ""
    return f"{private}{chance.choice(VERBS)}_{chance.choice(NOUNS)}{chance.choice(('', '', '_2', '_3'))}"


def with_imports(text: str, imports: list[str]) -> str:
    """The text with these lines of import behind its docstring, but for those that it has."""
    lines = text.splitlines()
    at = 1 if lines and lines[0].startswith('"""') else 0
    return "\n".join([*lines[:at], *(line for line in dict.fromkeys(imports) if line not in lines), *lines[at:]]) + "\n"


def new_function(chance: Random, program: Program, path: str, name: str, owner: str = "") -> tuple[str, list[str]]:
    """The text of a function that calls up to three others, and the imports for it."""
    imports: list[str] = []
    body: list[str] = []
    for number in range(chance.choice((0, 1, 1, 2, 3))):
        body += _call(chance, program, path, number, imports, owner)
    first = "self, value: int = 0" if owner else "value: int = 0" if not name.startswith("test_") else ""
    last = "    return value" if first else "    assert True"
    return "\n".join(
        [f"def {name}({first}) -> int:" if first else f"def {name}():", *(f"    {line}" for line in body), last]
    ) + "\n", imports


def _call(chance: Random, program: Program, path: str, number: int, imports: list[str], owner: str) -> list[str]:
    """Lines that call something that is known, by a form that is drawn."""
    own = module_name(path)
    if owner and chance.random() < 0.3 and (members := [one for one in program.names("method") if one.startswith(f"{owner}.")]):
        return [f"self.{chance.choice(members).rpartition('.')[2]}()"]
    wanted = [name for name in program.names("function", "method") if "test_" not in name and name.rpartition(".")[0] != own]
    wanted += [name for name in program.names("function") if name.rpartition(".")[0] == own]
    if not wanted:
        return []
    callee = chance.choice(wanted)
    is_method = program.definitions[callee].kind == "method"
    holder = callee.rpartition(".")[0] if is_method else callee
    module, _, name = holder.rpartition(".")
    if module == own:
        said = name
    else:
        form = chance.randrange(6)
        base, _, last = module.rpartition(".")
        if form == 0:
            imports.append(f"import {module}")
            said = f"{module}.{name}"
        elif form == 1:
            imports.append(f"import {module} as {module.replace('.', '_')}")
            said = f"{module.replace('.', '_')}.{name}"
        elif form == 2 and base and last not in program.bound.get(own, {}):
            imports.append(f"from {base} import {last} as mod_{last}")
            said = f"mod_{last}.{name}"
        elif form == 3 or name in program.bound.get(own, {}):
            short = f"{name.lstrip('_')}_of_{module.replace('.', '_')}"
            imports.append(f"from {module} import {name} as {short}")
            said = short
        else:
            imports.append(f"from {module} import {name}")
            program.bound.setdefault(own, {})[name] = holder
            said = name
    if not is_method:
        return [f"{said}()"]
    method = callee.rpartition(".")[2]
    return [f"{said}().{method}()"] if chance.random() < 0.5 else [f"held_{number} = {said}()", f"held_{number}.{method}()"]


def _new_class(chance: Random, program: Program, path: str) -> tuple[str, list[str]]:
    own = module_name(path)
    free = [name for name in CLASSES if name not in program.bound.get(own, {})]
    name = chance.choice(free) if free else f"{chance.choice(CLASSES)}{chance.randrange(100)}"
    imports: list[str] = []
    bases = ""
    above = [one for one in program.names("class") if one.rpartition(".")[2] != name]
    if above and chance.random() < 0.5:
        base = chance.choice(above)
        module, _, short = base.rpartition(".")
        bases = f"({short})"
        if module != own:
            alias = f"{short}_of_{module.replace('.', '_')}"
            imports.append(f"from {module} import {short} as {alias}")
            bases = f"({alias})"
    methods: list[str] = []
    for method in chance.sample(METHODS, chance.randrange(1, 3)):
        code, more = new_function(chance, program, path, method, f"{own}.{name}")
        imports += more
        methods.append("\n".join(f"    {line}" for line in code.splitlines()))
    return f"class {name}{bases}:\n" + "\n\n".join(methods) + "\n", imports
