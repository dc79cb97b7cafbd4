"""Cases of Go in text archives, made ready to run: each function says first that it was entered, and by which function of the case.

A case is `=== name` and a text, `main.go`; further files follow, each behind a line `--- path`. Each folder of a case is a package of the
one module that all cases are, and `Run` of its own folder begins it. Who called a function the stack says: the nearest function of the
case, or the one whose `go` began the goroutine. What functions of Go's libraries run is told apart (`Ran.by_library`).
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from traced import Ran, cases_in

from indexer.syntax.tree.grammars import grammar_of

MODULE = "cases"
GO_MOD = f"module {MODULE}\n\ngo 1.25\n"

_TRACE = """\
package trace__

import (
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

type Edge struct {
	Case, Callee, File string
	Line               int
	Library            bool
}

var (
	lock  sync.Mutex
	Edges = map[Edge]bool{}
	began = regexp.MustCompile(`created by .* in goroutine \\d+\\n\\t(.*):(\\d+)`)
)

const here = "cases/" // paths begin with the module's name, and so the compiler's cache knows them from any folder

func Enter(of, callee string) {
	pcs := make([]uintptr, 200)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	edge := Edge{Case: of, Callee: callee}
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if frame.Function == "runtime.gopanic" || frame.Function == "runtime.Goexit" {
			return // what was deferred runs: who deferred it is not on the stack
		}
		if strings.HasPrefix(frame.File, here) {
			edge.File, edge.Line = strings.TrimPrefix(frame.File, here), frame.Line
			break
		}
		edge.Library = edge.Library || frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.")
	}
	text := make([]byte, 1<<16)
	if found := began.FindSubmatch(text[:runtime.Stack(text, false)]); edge.File == "" && found != nil {
		edge.File = strings.TrimPrefix(string(found[1]), here)
		edge.Line, _ = strconv.Atoi(string(found[2]))
	}
	lock.Lock()
	Edges[edge] = true
	lock.Unlock()
}
"""


class Named(NamedTuple):
    """A function, a method, or the text of a file (what variables of a package are set to): its name within the case, and its place.

    Names are `f`, `T.m`, `main.go`; in a folder of the case behind the folder's own: `lib.T.m`. What another build has too is named behind
    its file. Lines and columns are 0-based.
    """

    name: str
    file: str
    line: int
    col: int
    end_line: int
    body: int
    """Offset of what is in front of its first statement, -1 for none."""


@dataclass(frozen=True)
class Case:
    """`named`: the text of a file behind what stands in it."""

    name: str
    files: dict[str, str]
    named: list[Named]


def cases_of(folder: Path) -> dict[str, Case]:
    made: dict[str, Case] = {}
    for name, text in cases_in(folder, "*.cases").items():
        first, *others = text.split("\n--- ")
        files = {"main.go": first.rstrip() + "\n"}
        for other in others:
            path, _, source = other.partition("\n")
            files[path] = source.rstrip() + "\n"
        made[name] = Case(name, files, _named(files))
    return made


def tree_of(cases: dict[str, Case]) -> dict[str, str]:
    return {"go.mod": GO_MOD, **{f"{case.name}/{path}": text for case in cases.values() for path, text in case.files.items()}}


def run(cases: dict[str, Case], folder: Path) -> dict[str, Ran]:
    """By case: who called whom, by names within the case."""
    texts = tree_of(cases) | {"trace__/trace.go": _TRACE, "main.go": _main(cases)}
    for case in cases.values():
        texts |= {f"{case.name}/{path}": _instrumented(case, path) for path in case.files if path.endswith(".go")}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    go = shutil.which("go")
    assert go is not None
    done = subprocess.run([go, "run", "-trimpath", "."], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = {name: Ran() for name in cases}
    for edge in json.loads(done.stdout):
        ran, caller = found[edge["Case"]], _around(cases[edge["Case"]], edge["File"], edge["Line"] - 1)
        if caller is not None:
            ran.edges.add((caller, edge["Callee"]))
            if edge["Library"]:
                ran.by_library.add((caller, edge["Callee"]))
    return found


def _around(case: Case, file: str, line: int) -> str | None:
    return next((one.name for one in case.named if f"{case.name}/{one.file}" == file and one.line <= line <= one.end_line), None)


def _main(cases: dict[str, Case]) -> str:
    imports = "".join(f'\tc{number} "{MODULE}/{name}"\n' for number, name in enumerate(cases))
    calls = "".join(f"\trun(c{number}.Run)\n" for number in range(len(cases)))
    return f"""\
package main

import (
	"encoding/json"
	"os"

	"{MODULE}/trace__"
{imports})

func run(f func()) {{
	defer func() {{ recover() }}()
	f()
}}

func main() {{
{calls}	var edges []trace__.Edge
	for edge := range trace__.Edges {{
		edges = append(edges, edge)
	}}
	json.NewEncoder(os.Stdout).Encode(edges)
}}
"""


def _instrumented(case: Case, path: str) -> str:
    """The text as it runs; each line stays where it is."""
    entered = sorted((one for one in case.named if one.file == path and one.body >= 0), key=lambda one: -one.body)
    text = case.files[path].encode()
    for one in entered:
        text = text[: one.body] + f' trace__.Enter("{case.name}", "{one.name}");'.encode() + text[one.body :]
    if entered:
        package = next(child for child in _root(text).children if child.type == "package_clause")
        text = text[: package.end_byte] + f'; import "{MODULE}/trace__"'.encode() + text[package.end_byte :]
    return text.decode()


def _root(source: bytes) -> Any:
    return grammar_of("go", "main.go").parser.parse(source).root_node


def _named(files: dict[str, str]) -> list[Named]:
    made: dict[str, Named] = {}
    for path, text in sorted(files.items()):
        folder = Path(path).parent.name
        for node in _root(text.encode()).children if path.endswith(".go") else ():
            if node.type in ("function_declaration", "method_declaration"):
                name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
                words = ".".join(filter(None, (folder, _receiver(node), name.text.decode())))
                key = f"{path}:{words}" if words in made else words
                line, col = name.start_point
                made[key] = Named(
                    words if words.endswith("init") else key,
                    path,
                    line,
                    col,
                    node.end_point[0],
                    -1 if body is None else body.start_byte + 1,
                )
        made[path] = Named(path, path, 0, 0, text.count("\n"), -1)
    return list(made.values())


def _receiver(node: Any) -> str:
    receiver = node.child_by_field_name("receiver")
    if receiver is None:
        return ""
    of = receiver.named_children[0].child_by_field_name("type")
    while of.type != "type_identifier":
        of = of.named_children[0]
    return of.text.decode()
