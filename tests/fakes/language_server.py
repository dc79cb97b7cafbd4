"""A language server over stdio that does what a TOML script says, faults included.

    python language_server.py scripts/<name>.toml

Well-behaved, it answers from the text alone: a definition is the first line of the same file that says `def NAME`, `class NAME`
or `NAME =`; names of typeshed/stdlib/builtins.pyi beside this file come from there. A script's keys, all optional:

    at_start         fault before the first message is read
    at_initialize    fault in place of the answer to initialize
    marker, fault    fault in place of the answer to a request about a file whose text holds `marker`
    methods          the fault concerns these methods only
    only_first       the fault happens in the first process only, not in its successors
    lies             methods that are advertised and answered with an error
    lacks            capabilities that are not advertised
    registers        methods registered after `initialized` instead of being advertised
    asks             asks the client for configuration, an edit and a progress token, and answers nothing before it has them
    expects          what the configuration question must give, by section
    stderr_bytes     printed to stderr at the start
    ignores_shutdown answers no `shutdown`, no `exit`, no SIGTERM, and lives on when its input ends
    knows_builtins   false: `len` is defined nowhere
    jitter_ms        answers to requests take a random time up to this
    mute             names that are answered with null in the functions named `unreachable`

Faults: die, hang, half_header, wrong_length, invalid_json, twice, wrong_id, error, wrong_shape, no_header.
The file `<pid>` in the folder FAKE_PIDS says that a process was here; the file FAKE_RECORD, where given, gets a line for each
request, and one for the number of processors that the process saw at its start.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
BUILTINS = HERE / "typeshed" / "stdlib" / "builtins.pyi"
CAPABILITIES = {
    "documentSymbolProvider": True,
    "definitionProvider": True,
    "hoverProvider": True,
    "typeHierarchyProvider": True,
    "diagnosticProvider": {"interFileDependencies": True, "workspaceDiagnostics": False},
}


class Server:
    def __init__(self, script: dict[str, Any], is_first: bool) -> None:
        self.script = script
        self.is_first = is_first
        self.opened: dict[str, str] = {}
        self.waiting: set[str] = set()
        self.postponed: list[dict[str, Any]] = []

    # ---- messages

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%b" % (len(body), body))

    def write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def read(self) -> dict[str, Any] | None:
        size = 0
        while line := sys.stdin.buffer.readline():
            if line == b"\r\n":
                return json.loads(sys.stdin.buffer.read(size))
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        return None

    def run(self) -> None:
        sys.stderr.write("x" * self.script.get("stderr_bytes", 0))
        sys.stderr.flush()
        if "at_start" in self.script:
            self.fault(self.script["at_start"], {"id": 0})
        while (message := self.read()) is not None:
            self.handle(message)
        if self.script.get("ignores_shutdown"):
            while True:
                signal.pause()

    def handle(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            self.answered(message)
        elif self.waiting:
            self.postponed.append(message)
        elif "id" in message:
            self.request(method, message)
        elif method == "initialized":
            self.initialized()
        elif method == "textDocument/didOpen":
            document = message["params"]["textDocument"]
            self.opened[document["uri"]] = document["text"]
        elif method == "textDocument/didClose":
            self.opened.pop(message["params"]["textDocument"]["uri"], None)
        elif method == "exit" and not self.script.get("ignores_shutdown"):
            raise SystemExit(0)

    # ---- questions to the client

    def initialized(self) -> None:
        if self.script.get("registers"):
            items = [{"id": method, "method": method, "registerOptions": {}} for method in self.script["registers"]]
            self.send({"id": "registration", "method": "client/registerCapability", "params": {"registrations": items}})
            self.waiting.add("registration")
        if self.script.get("asks"):
            sections = list(self.script.get("expects", {}))
            questions = {
                "configuration": ("workspace/configuration", {"items": [{"section": section} for section in sections]}),
                "edit": ("workspace/applyEdit", {"edit": {"changes": {}}}),
                "progress": ("window/workDoneProgress/create", {"token": 1}),
                "unknown": ("experimental/never-heard-of", {}),
            }
            for key, (method, params) in questions.items():
                self.send({"id": key, "method": method, "params": params})
                self.waiting.add(key)

    def answered(self, message: dict[str, Any]) -> None:
        key = message["id"]
        self.waiting.remove(key)  # an answer to nothing ends the server, as it should
        if key == "configuration":
            assert message["result"] == list(self.script.get("expects", {}).values()), message
        elif key == "edit":
            assert message["result"]["applied"] is False, message
        else:
            assert message["result"] is None, message
        if not self.waiting:
            postponed, self.postponed = self.postponed, []
            for item in postponed:
                self.handle(item)

    # ---- requests

    def request(self, method: str, message: dict[str, Any]) -> None:
        script = self.script
        if method == "initialize":
            if "at_initialize" in script:
                self.fault(script["at_initialize"], message)
                return
            capabilities = {key: value for key, value in CAPABILITIES.items() if key not in script.get("lacks", [])}
            self.send({"id": message["id"], "result": {"capabilities": capabilities, "serverInfo": {"name": "fake", "version": "1.0"}}})
            return
        if method == "shutdown":
            if not script.get("ignores_shutdown"):
                self.send({"id": message["id"], "result": None})
            return
        if method in script.get("lies", []):
            self.fault("error", message)
            return
        params = message.get("params") or {}
        record(f"{method} {json.dumps(params, sort_keys=True)}")
        time.sleep(os.urandom(1)[0] / 255 * script.get("jitter_ms", 0) / 1000)
        uri = (params.get("textDocument") or params.get("item") or {}).get("uri", "")
        text = self.text(uri)
        concerned = method in script.get("methods", [method]) and (self.is_first or not script.get("only_first"))
        if "marker" in script and script["marker"] in text and concerned:
            self.fault(script["fault"], message)
            return
        self.send({"id": message["id"], "result": self.result(method, uri, text, params)})

    def text(self, uri: str) -> str:
        if uri in self.opened:
            return self.opened[uri]
        path = Path(unquote(urlsplit(uri).path))
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def result(self, method: str, uri: str, text: str, params: dict[str, Any]) -> object:
        if method == "textDocument/definition":
            return self.definition(uri, text, params["position"])
        if method == "textDocument/hover":
            name = word_at(text, params["position"])
            return {"contents": {"kind": "markdown", "value": f"hover of {name}"}} if name else None
        if method == "textDocument/diagnostic":
            return {"kind": "full", "items": []}
        return []

    def definition(self, uri: str, text: str, position: dict[str, int]) -> object:
        name = word_at(text, position)
        before = re.findall(r"^def (\w+)", "\n".join(text.split("\n")[: position["line"]]), re.MULTILINE)
        if name in self.script.get("mute", []) and before and before[-1] == "unreachable":
            return None
        found = first_definition(text, name)
        if found is None and self.script.get("knows_builtins", True):
            uri, found = BUILTINS.as_uri(), first_definition(BUILTINS.read_text(encoding="utf-8"), name)
        return None if found is None else {"uri": uri, "range": found}

    # ---- faults

    def fault(self, kind: str, message: dict[str, Any]) -> None:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": None}
        body = json.dumps(answer).encode()
        if kind == "die":
            sys.stderr.write("fatal: the script says so\n")
            sys.stderr.flush()
            os._exit(3)
        elif kind == "hang":
            while True:
                signal.pause()
        elif kind == "half_header":
            self.write(b"Content-Le")
            os._exit(0)
        elif kind == "wrong_length":
            self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body) - 7, body) * 2)
        elif kind == "no_header":
            self.write(b"Traceback (most recent call last): oops\r\n\r\n")
        elif kind == "invalid_json":
            self.write(b"Content-Length: 9\r\n\r\n{not json")
        elif kind == "twice":
            self.send({"id": message["id"], "result": None})
            self.send({"id": message["id"], "result": None})
        elif kind == "wrong_id":
            self.send({"id": 9_999_999, "result": None})
        elif kind == "wrong_shape":
            self.send({"id": message["id"], "result": {"uri": 1, "contents": 2, "items": 3}})
        elif kind == "error":
            self.send({"id": message["id"], "error": {"code": -32603, "message": "internal error"}})
        else:
            raise ValueError(kind)


def record(line: str) -> None:
    if "FAKE_RECORD" in os.environ:
        with Path(os.environ["FAKE_RECORD"]).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def word_at(text: str, position: dict[str, int]) -> str:
    lines = text.split("\n")
    line = lines[position["line"]] if position["line"] < len(lines) else ""
    for match in re.finditer(r"\w+", line):
        if match.start() <= position["character"] < match.end():
            return match.group()
    return ""


def first_definition(text: str, name: str) -> dict[str, Any] | None:
    if not name:
        return None
    pattern = re.compile(rf"^\s*(?:(?:async\s+)?def\s+|class\s+)({re.escape(name)})\b|^\s*({re.escape(name)})\s*=")
    for number, line in enumerate(text.split("\n")):
        match = pattern.search(line)
        if match:
            start, end = match.span(1 if match.group(1) else 2)
            return {"start": {"line": number, "character": start}, "end": {"line": number, "character": end}}
    return None


def main() -> None:
    script = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    record(f"processors {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()}")
    pids = os.environ.get("FAKE_PIDS")
    is_first = True
    if pids:
        is_first = not any(Path(pids).iterdir())
        (Path(pids) / str(os.getpid())).touch()
    if script.get("ignores_shutdown"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Server(script, is_first).run()


if __name__ == "__main__":
    main()
