"""Cases of Rust in text archives, made ready to run: each function says first that it was entered, and by which text of the case.

A case is `=== name` and a text, which is a module of the one crate that all cases are; its `run` begins it. Who called a function the
stack says: the nearest frame that is in the text of a case, by line and column. What is in a macro's own text there is the macro's. What
functions of libraries run, what `derive` makes, and what ends the life of a value is told apart (`Ran.by_library`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from traced import Ran, cases_in

from indexer.syntax.tree.grammars import grammar_of

CARGO_TOML = '[package]\nname = "cases"\nversion = "0.1.0"\nedition = "2021"\n'

_TRACE = """\
pub fn enter(case: &str, callee: &str) {
    let stack = std::backtrace::Backtrace::force_capture().to_string();
    println!("@@ {case} {callee}\\n{stack}");
}
"""

_FRAME = re.compile(r"^ *\d+: (.*)\n(?: +at (\S+?):(\d+):(\d+)\n)?", re.MULTILINE)
_OF_THE_TEXT = re.compile(
    r"core::ops::|ops::function|cmp::impls|from_residual|^<&|FnOnce|FnMut|as .*::Fn<|call_once|::into_iter$|lang_start|as .*Index"
)
"""Functions of libraries that a sign or a call in the text itself leads through."""


class Named(NamedTuple):
    """A function, a macro, or the text of a case: its name within the case, and where that is, 0-based.

    Names are `f`, `T.m`, `Trait.m`, `module.f`, `outer.inner`, `m!`; where a type has several of a name, that of a trait's is `T.Trait.m`.
    """

    name: str
    line: int
    col: int
    first: int
    last: int
    body: int
    """Offsets: its text, and what is in front of its first statement, -1 for none."""


@dataclass(frozen=True)
class Case:
    """`named`: the text itself is the last."""

    name: str
    text: str
    named: list[Named]

    @property
    def file(self) -> str:
        return f"src/{self.name}.rs"

    def around(self, line: int, col: int) -> str:
        """What stands at a place of the text as it runs, the innermost."""
        place = sum(len(text) for text in _instrumented(self).splitlines(keepends=True)[:line]) + col
        for one in sorted(self.named, key=lambda one: one.body):
            if 0 <= one.body < place:
                place = max(place - len(_entering(self, one)), one.body)
        return min((one for one in self.named if one.first <= place < one.last), key=lambda one: one.last - one.first).name


def cases_of(folder: Path) -> dict[str, Case]:
    return {name: Case(name, text, _named(name, text)) for name, text in cases_in(folder, "*.cases").items()}


def tree_of(cases: dict[str, Case]) -> dict[str, str]:
    modules = "".join(f"mod {name};\n" for name in cases)
    return {"Cargo.toml": CARGO_TOML, "src/main.rs": f"{modules}\nfn main() {{}}\n", **{case.file: case.text for case in cases.values()}}


def run(cases: dict[str, Case], folder: Path) -> dict[str, Ran]:
    """By case: who called whom, by names within the case."""
    calls = "".join(f"    let _ = std::panic::catch_unwind({name}::run);\n" for name in cases)
    modules = "".join(f"mod {name};\n" for name in ["trace__", *cases])
    texts = {case.file: _instrumented(case) for case in cases.values()}
    texts |= {"src/trace__.rs": _TRACE, "src/main.rs": f"{modules}\nfn main() {{\n{calls}}}\n"}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    rustc = shutil.which("rustc")
    assert rustc is not None
    command = [rustc, "--edition=2021", "-Awarnings", "-Cdebuginfo=line-tables-only", "src/main.rs", "-o", "cases"]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert made.returncode == 0, made.stderr
    done = subprocess.run([str(folder / "cases")], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return _read(cases, done.stdout)


def _read(cases: dict[str, Case], told: str) -> dict[str, Ran]:
    found = {name: Ran() for name in cases}
    for entry in dict.fromkeys(told.split("@@ ")[1:]):
        head, _, stack = entry.partition("\n")
        of, callee = head.split(" ", 1)
        case, by_library, own = cases[of], False, False
        for words, path, line, col in _FRAME.findall(stack):
            is_here = path.endswith(f"/{of}.rs")
            if not own:
                own = is_here  # the function itself, behind `enter`
            elif is_here and not _is_derived(words, caller := case.around(int(line) - 1, int(col) - 1)):
                edge = (caller, callee)
                found[of].edges.add(edge)
                if by_library:
                    found[of].by_library.add(edge)
                break
            elif not _OF_THE_TEXT.search(words):
                by_library = True
    return found


def _is_derived(frame: str, caller: str) -> bool:
    """Whether it is a member that `derive` made: it is at the line of a type."""
    return caller.endswith(".rs") and frame.startswith("<") and " as core::" in frame


def _entering(case: Case, one: Named) -> str:
    return f' crate::trace__::enter("{case.name}", "{one.name}");'


def _instrumented(case: Case) -> str:
    """The text as it runs; each line stays where it is."""
    text = case.text.encode()
    for one in sorted((one for one in case.named if one.body >= 0), key=lambda one: -one.body):
        text = text[: one.body] + _entering(case, one).encode() + text[one.body :]
    return text.decode()


def _named(case: str, text: str) -> list[Named]:
    root = grammar_of("rust", "main.rs").parser.parse(text.encode()).root_node
    assert not root.has_error, case
    made: dict[str, Named] = {}
    waiting: list[tuple[Any, tuple[str, ...], str]] = [(root, (), "")]
    while waiting:
        node, around, trait = waiting.pop()
        inner, inner_trait = around, trait
        if node.type in ("function_item", "function_signature_item", "macro_definition"):
            name = node.child_by_field_name("name")
            word = name.text.decode() + "!" * (node.type == "macro_definition")
            key = ".".join((*around, word))
            if key in made:
                key = ".".join((*around, trait, word))
            assert key not in made, (case, key)
            body = node.child_by_field_name("body")
            is_elsewhere = re.match(rb"(pub(\(\w+\))? )?(const|async) ", node.text) is not None
            start = -1 if body is None or is_elsewhere or node.type == "macro_definition" else body.start_byte + 1
            line, col = name.start_point
            made[key] = Named(key, line, col, node.start_byte, node.end_byte, start)
            inner, inner_trait = (*around, word), ""
        elif node.type == "impl_item":
            of = node.child_by_field_name("trait")
            inner = (*around, _plain(node.child_by_field_name("type")))
            inner_trait = "" if of is None else _plain(of)
        elif node.type in ("trait_item", "mod_item"):
            inner = (*around, node.child_by_field_name("name").text.decode())
        waiting.extend((child, inner, inner_trait) for child in reversed(node.named_children))
    return [*made.values(), Named(f"{case}.rs", 0, 0, 0, len(text) + 1, -1)]


def _plain(node: Any) -> str:
    return re.sub(r"<.*>|^dyn | \+ .*|^&(mut )?|[()]", "", node.text.decode()).split("::")[-1]
