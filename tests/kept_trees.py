"""Small packages in three languages, and random edits of five kinds, for the tests of a worker that stays.

A package is a model; its files are written from that. Names that an edit takes away stay where others use them: such a tree is wrong in the
way that one is in the midst of an edit.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

KINDS = ("body", "signature", "symbol", "file", "import")
_NAMES = ("alpha", "beta", "gamma", "delta", "kappa", "sigma", "omega", "theta")


@dataclass
class Function:
    """`wide`: takes a second parameter. `text`: gives a text in place of a number. calls: names of what it calls."""

    name: str
    number: int = 0
    wide: bool = False
    text: bool = False
    calls: list[str] = field(default_factory=list[str])


@dataclass
class Module:
    """imports: (name of a module, name of a function in it). shape: the name of a class or struct, empty for none."""

    functions: list[Function]
    imports: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    shape: str = ""


Package = dict[str, Module]


def package(chance: random.Random) -> Package:
    """Six modules, each of which imports from those before it."""
    made: Package = {}
    for number in range(6):
        name = f"{'sub/' if number % 3 == 2 else ''}m{number}"
        functions = [Function(f"{one}_{number}", chance.randrange(9)) for one in chance.sample(_NAMES, 3)]
        module = made[name] = Module(functions, shape=f"Shape{number}" if number % 2 else "")
        for other in chance.sample(sorted(made.keys() - {name}), min(number, 2)):
            _import(made, name, other, chance)
        for function in functions:
            function.calls = chance.sample(_callable(module), 1)
    return made


def _callable(module: Module) -> list[str]:
    return sorted({*(one.name for one in module.functions), *(name for _, name in module.imports)})


def _import(made: Package, name: str, other: str, chance: random.Random) -> None:
    if made[other].functions and other != name:
        module = made[name]
        wanted = (other, chance.choice(made[other].functions).name)
        if wanted not in module.imports:
            module.imports.append(wanted)


def edit(made: Package, kind: str, chance: random.Random, number: int) -> None:
    """One change of a kind; `number` makes new names."""
    name = chance.choice(sorted(made))
    module = made[name]
    function = chance.choice(module.functions) if module.functions else None
    if kind == "body" and function is not None:
        function.number += 1
        function.calls = chance.sample(_callable(module), min(2, len(_callable(module))))
    elif kind == "signature" and function is not None:
        if chance.random() < 0.5:
            function.wide = not function.wide
        else:
            function.text = not function.text
    elif kind == "symbol":
        _edit_symbols(module, function, chance, number)
    elif kind == "file":
        _edit_files(made, name, chance, number)
    else:
        if module.imports and chance.random() < 0.4:
            module.imports.remove(chance.choice(module.imports))
        else:
            _import(made, name, chance.choice(sorted(made)), chance)
            if function is not None and module.imports:
                function.calls = [module.imports[-1][1]]


def _edit_symbols(module: Module, function: Function | None, chance: random.Random, number: int) -> None:
    choice = chance.randrange(4)
    if choice == 0 or function is None:
        module.functions.append(Function(f"new_{number}", number, calls=_callable(module)[:1]))
    elif choice == 1:
        module.functions.remove(function)
    elif choice == 2:
        function.name = f"named_{number}"
    else:
        module.shape = "" if module.shape else f"Late{number}"


def _edit_files(made: Package, name: str, chance: random.Random, number: int) -> None:
    choice = chance.randrange(4)
    if choice == 0 and len(made) > 4:
        del made[name]
    elif choice == 1:
        made[f"{chance.choice(('', 'sub/', f'dir{number}/'))}moved{number}"] = made.pop(name)
    else:
        fresh = f"{chance.choice(('', 'sub/', f'dir{number}/'))}late{number}"
        made[fresh] = Module([Function(f"fresh_{number}", number)])
        _import(made, fresh, chance.choice(sorted(made)), chance)
        made[fresh].functions[0].calls = _callable(made[fresh])[:1]
        if chance.random() < 0.7:
            _import(made, name, fresh, chance)


# ---- the files of it


def python(made: Package) -> dict[str, str]:
    files = {"app/__init__.py": "", "app/sub/__init__.py": ""}
    for name, module in made.items():
        if len(name) % 2 and "/" in name:  # the others are in packages without a file of their own
            files[f"app/{name.partition('/')[0]}/__init__.py"] = ""
        lines = [f"from app.{other.replace('/', '.')} import {one}" for other, one in module.imports]
        for one in module.functions:
            parameters = "x: int, y: int = 1" if one.wide else "x: int"
            lines += ["", "", f"def {one.name}({parameters}) -> {'str' if one.text else 'int'}:", f"    value = {one.number}"]
            lines += [f"    {called}(value)" for called in one.calls]
            lines += [f"    return {'str(value)' if one.text else 'value'}"]
        if module.shape:
            lines += [
                "",
                "",
                f"class {module.shape}:",
                "    def area(self) -> int:",
                "        return 1",
                "",
                "",
                f"{module.shape}().area()",
            ]
        files[f"app/{name}.py"] = "\n".join(lines) + "\n"
    return files


def typescript(made: Package) -> dict[str, str]:
    options = (
        '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler", "noEmit": true}, "include": ["app"]}\n'
    )
    files = {"tsconfig.json": options}
    for name, module in made.items():
        up = "../" if "/" in name else "./"
        lines = [f"import {{ {one} }} from '{up}{other}';" for other, one in module.imports]
        for one in module.functions:
            parameters = "x: number, y = 1" if one.wide else "x: number"
            lines += [
                f"export function {one.name}({parameters}): {'string' if one.text else 'number'} {{",
                f"  const value = {one.number};",
            ]
            lines += [f"  {called}(value);" for called in one.calls]
            lines += [f"  return {'String(value)' if one.text else 'value'};", "}"]
        if module.shape:
            lines += [f"export class {module.shape} {{", "  area(): number {", "    return 1;", "  }", "}"]
            lines += [f"new {module.shape}().area();"]
        files[f"app/{name}.ts"] = "\n".join(lines) + "\n"
    return files


def go(made: Package) -> dict[str, str]:
    """A package for each folder; what the one at the top imports of others is called by their names."""
    files = {"go.mod": "module example.com/app\n\ngo 1.21\n"}
    for name, module in made.items():
        here = name.rpartition("/")[0]
        elsewhere = {one: other.rpartition("/")[0] for other, one in module.imports if "/" in other and not here}
        lines = [f"package {here or 'app'}", ""]
        if elsewhere:
            lines += [*(f'import "example.com/app/{other}"' for other in sorted(set(elsewhere.values()))), ""]
        for one in module.functions:
            parameters = "x int, y int" if one.wide else "x int"
            lines += [f"func {_title(one.name)}({parameters}) {'string' if one.text else 'int'} {{", f"\tvalue := {one.number}"]
            lines += [f"\t{elsewhere[called] + '.' if called in elsewhere else ''}{_title(called)}(value)" for called in one.calls]
            lines += ["\t_ = value", f"\treturn {'`text`' if one.text else 'value'}", "}", ""]
        if module.shape:
            lines += [f"type {module.shape} struct{{}}", "", f"func (s {module.shape}) Area() int {{ return 1 }}", ""]
        files[f"{name}.go"] = "\n".join(lines) + "\n"
    return files


def _title(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


LANGUAGES: Mapping[str, Callable[[Package], dict[str, str]]] = {"python": python, "typescript": typescript, "go": go}
