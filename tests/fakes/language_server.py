"""A language server over stdio that does what a TOML script says, faults included.

    python language_server.py scripts/<name>.toml

Well-behaved, it answers from the text alone: a definition is the first line of the same file that says `def NAME`, `class NAME`,
`function NAME`, `const NAME` or `NAME =`; names of typeshed/stdlib/builtins.pyi beside this file come from there.
A script's keys, all optional:

    at_start         fault before the first message is read
    at_initialize    fault in place of the answer to initialize
    marker, fault    fault in place of the answer to a request about a file whose text holds `marker`
    methods          the fault concerns these methods only
    only_first       the fault happens in the first process only, not in its successors
    lies             methods that are advertised and answered with an error
    lacks            capabilities that are not advertised
    registers        methods registered after `initialized` instead of being advertised
    registers_when_changed  they are registered when a file is changed
    unregisters      methods whose registration it takes back when it has answered the first request about diagnostics
    asks             asks the client for configuration, an edit, a progress token and a choice, and answers nothing before it has them
    expects          what the configuration question must give, by section
    stderr_bytes     printed to stderr at the start
    ignores_shutdown answers no `shutdown`, no `exit`, no SIGTERM, and lives on when its input ends
    knows_builtins   false: `len` is defined nowhere
    floods           number of notifications before the first answer about a document
    leaks_mb         memory that every request about a file costs
    modified         how often each question is answered with "content modified" first; about files with `marker` only, if there is one
    forks            "child": has a child that ignores SIGTERM and the end of its input; "session": it is in a session of its own;
                     "orphan": and its parent has ended
    progress         "ends", "never_ends", "never_begins", "crawls", "goes_on": begins to load when initialized and knows nothing until it
                     has ended; "crawls" says five times how far it has come, every half second, before it ends; "goes_on" says something
                     new twenty times a second and never ends
    later            keys of the script that are others in the processes after the first
    unbuilt          part of the paths about which every question is answered by the error "no package metadata for file"
    complains        message that it logs as an error when it is initialized; it then knows nothing
    notifies         "loads", "never_loads": the same, said by the notification `fake/status`
    finds            what a text holds that has one diagnostic; of all others there is none
    loads_anew       "once", "for_ever": when a file is changed it takes back by `fake/status` that it is ready, and answers with nothing
                     until it is
    publishes        diagnostics, when a file is opened that does not hold `marker`
    publishes_on_change  one diagnostic, when a file is changed
    jitter_ms        answers to requests take a random time up to this
    spies            at its start it tries what FAKE_SPY says (JSON: attempts by name, each a list of words) and writes what came of each
                     into the file `spied.json` beside FAKE_PIDS
    capabilities     advertised beside the usual ones
    garbage          JSON texts: the answers to requests, other than those of a crawl, that name a file called g<number>.py; `many` is a
                     list of 150,000 items
    command_edits    WorkspaceEdits (JSON) that it asks the client to make when it executes a command
    mute             names that are answered with null in the functions named `unreachable`
    defined_at       URI of the file in whose third line everything is defined
    size             how many, or how much, of what a fault below names

Faults: die, hang, half_header, half_body, wrong_length, invalid_json, invalid_utf8, invalid_utf8_error, deep, twice, wrong_id, error,
wrong_shape, out_of_range, strange_uri, no_header, huge (200 MB), babble (notifications without end), late (no answer after `late_s`),
slow (the right one then), kill_client, stop_client (it hangs, as if in code of its own), answer_and_die (half a second after the answer),
many (a hundred places for one question), swell (takes ever more memory and does not answer).
Of the script's `size`: long (a hover, and messages of an error, of so many characters), many_symbols, nested_symbols, many_diagnostics,
asks_much (one request of its own for so many settings), many_tokens (notes of progress, each of another), many_registrations, and without
end: asks_for_ever (requests of its own, and it reads no answer), trickles (a header that never ends, byte by byte). elsewhere: publishes
diagnostics of a file that it was not asked about.
With `--listen` behind the script it prints a port of loopback, and serves the first who connects there in place of stdin and stdout.
The file `<pid>` in the folder FAKE_PIDS says that a process was here; the file FAKE_RECORD, where given, gets a line for each
request, and one for the number of processors that the process saw at its start.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterable
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


USUAL = {"textDocument/definition", "textDocument/hover", "textDocument/diagnostic", "textDocument/documentSymbol"}


class Server:
    def __init__(self, script: dict[str, Any], is_first: bool) -> None:
        self.script = script
        self.is_first = is_first
        self.opened: dict[str, str] = {}
        self.waiting: set[str | int] = set()
        self.postponed: list[dict[str, Any]] = []
        self.leaked: list[bytes] = []
        self.asked_before: dict[str, int] = {}
        self.registered = list(script.get("registers", []))
        self.flooded = False
        self.loading = "progress" in script or "notifies" in script or "complains" in script
        self.lock = threading.Lock()

    # ---- messages

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%b" % (len(body), body))

    def write(self, data: bytes) -> None:
        with self.lock:
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
        if "forks" in self.script:
            fork(self.script["forks"])
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
            if self.script.get("publishes") and self.script["marker"] not in document["text"]:
                self.send({"method": "textDocument/publishDiagnostics", "params": {"uri": document["uri"], "diagnostics": []}})
        elif method == "textDocument/didChange":
            uri = message["params"]["textDocument"]["uri"]
            self.opened[uri] = message["params"]["contentChanges"][-1]["text"]
            if self.script.pop("registers_when_changed", False):
                self.register()
            if anew := self.script.get("loads_anew"):
                self.loading = True
                self.send({"method": "fake/status", "params": {"ready": False}})
                if anew == "once":
                    threading.Timer(0.5, self.loaded).start()
            if not self.script.get("publishes_on_change"):
                return
            where = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
            found = [{"range": where, "severity": 2, "message": "said late"}]
            self.send({"method": "textDocument/publishDiagnostics", "params": {"uri": uri, "diagnostics": found}})
        elif method == "textDocument/didClose":
            self.opened.pop(message["params"]["textDocument"]["uri"], None)
        elif method == "exit" and not self.script.get("ignores_shutdown"):
            raise SystemExit(0)

    # ---- questions to the client

    def register(self) -> None:
        if self.script.get("registers"):
            items = [{"id": f"id of {method}", "method": method, "registerOptions": {}} for method in self.script["registers"]]
            self.send({"id": "registration", "method": "client/registerCapability", "params": {"registrations": items}})
            self.waiting.add("registration")

    def initialized(self) -> None:
        if not self.script.get("registers_when_changed"):
            self.register()
        if self.script.get("asks"):
            sections = list(self.script.get("expects", {}))
            questions = {
                "configuration": ("workspace/configuration", {"items": [{"section": section} for section in sections]}),
                "edit": ("workspace/applyEdit", {"edit": {"changes": {}}}),
                "progress": ("window/workDoneProgress/create", {"token": 1}),
                "choice": ("window/showMessageRequest", {"type": 3, "message": "really?", "actions": [{"title": "yes"}]}),
                77: ("window/showMessageRequest", {"type": 1, "message": "a number for an id"}),
                "unknown": ("experimental/never-heard-of", {}),
            }
            for key, (method, params) in questions.items():
                self.send({"id": key, "method": method, "params": params})
                self.waiting.add(key)
        if self.script.get("progress", "never_begins") != "never_begins":
            self.send({"method": "$/progress", "params": {"token": "load", "value": {"kind": "begin", "title": "Loading"}}})
            if self.script["progress"] == "ends":
                threading.Timer(0.3, self.loaded).start()
            if self.script["progress"] == "crawls":
                for number in range(1, 6):
                    threading.Timer(0.5 * number, self.come_so_far, [20 * number]).start()
                threading.Timer(3.0, self.loaded).start()
            if self.script["progress"] == "goes_on":
                threading.Thread(target=self.go_on, daemon=True).start()
        if "complains" in self.script:
            self.send({"method": "window/logMessage", "params": {"type": 1, "message": self.script["complains"]}})
        if self.script.get("loads_anew"):
            self.send({"method": "fake/status", "params": {"ready": True}})
        if self.script.get("notifies") == "loads":
            self.send({"method": "fake/status", "params": {"ready": False}})
            threading.Timer(0.3, self.loaded).start()

    def come_so_far(self, percentage: int) -> None:
        self.send({"method": "$/progress", "params": {"token": "load", "value": {"kind": "report", "percentage": percentage}}})

    def go_on(self) -> None:
        for number in itertools.count():
            self.come_so_far(number)
            time.sleep(0.05)

    def loaded(self) -> None:
        """Its signal; whoever has asked before has been told nothing."""
        record("loaded")
        self.loading = False
        if "progress" in self.script:
            self.send({"method": "$/progress", "params": {"token": "load", "value": {"kind": "end"}}})
        else:
            self.send({"method": "fake/status", "params": {"ready": True}})

    def usual(self, message: dict[str, Any]) -> None:
        """Answers as if there were no fault."""
        params = message.get("params") or {}
        uri = (params.get("textDocument") or params.get("item") or {}).get("uri", "")
        self.send({"id": message["id"], "result": self.result(message["method"], uri, self.text(uri), params)})

    def answered(self, message: dict[str, Any]) -> None:
        key = message["id"]
        if key == ASKED_BY_FAULT:
            return
        self.waiting.remove(key)  # an answer to nothing ends the server, as it should
        if key == "configuration":
            assert message["result"] == list(self.script.get("expects", {}).values()), message
        elif str(key).startswith("command edit"):
            assert "applied" in message["result"], message
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
            capabilities |= script.get("capabilities", {})
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
        if self.loading:
            self.send({"id": message["id"], "result": {"kind": "full", "items": []} if method == "textDocument/diagnostic" else None})
            return
        if script.get("floods") and not self.flooded:
            self.flooded = True
            for _ in range(script["floods"]):
                self.send({"method": "$/noise", "params": {"text": "x" * 50}})
        uri = (params.get("textDocument") or params.get("item") or {}).get("uri", "")
        if "unbuilt" in script and script["unbuilt"] in uri:
            self.send({"id": message["id"], "error": {"code": 0, "message": f"no package metadata for file {uri}"}})
            return
        text = self.text(uri)
        if Path(unquote(urlsplit(uri).path)).is_file():
            self.leaked.append(os.urandom(1) * (script.get("leaks_mb", 0) * 1_000_000))
        question = f"{method} {json.dumps(params, sort_keys=True)}"
        self.asked_before[question] = self.asked_before.get(question, 0) + 1
        if self.asked_before[question] <= script.get("modified", 0) and script.get("marker", "") in text:
            self.send({"id": message["id"], "error": {"code": -32801, "message": "content modified"}})
            return
        concerned = method in script.get("methods", [method]) and (self.is_first or not script.get("only_first"))
        if script.get("fault") == "slow" and script["marker"] in text and concerned:
            time.sleep(script["late_s"])
        if script.get("fault", "slow") != "slow" and script["marker"] in text and concerned:
            self.fault(script["fault"], message)
            return
        self.send({"id": message["id"], "result": self.result(method, uri, text, params)})
        if method == "textDocument/diagnostic" and script.get("unregisters") and self.registered:
            self.registered.clear()
            items = [{"id": f"id of {name}", "method": name} for name in script["unregisters"]]
            self.send({"id": "unregistration", "method": "client/unregisterCapability", "params": {"unregisterations": items}})
            self.waiting.add("unregistration")

    def text(self, uri: str) -> str:
        if uri in self.opened:
            return self.opened[uri]
        path = Path(unquote(urlsplit(uri).path))
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def result(self, method: str, uri: str, text: str, params: dict[str, Any]) -> object:
        if method == "workspace/executeCommand":
            for number, edit in enumerate(self.script.get("command_edits", [])):
                self.waiting.add(f"command edit {number}")
                self.send({"id": f"command edit {number}", "method": "workspace/applyEdit", "params": {"edit": json.loads(edit)}})
            return None
        numbered = re.search(r"/g(\d+)\.py", json.dumps(params)) if method not in USUAL else None
        if numbered and self.script.get("garbage"):
            answer = self.script["garbage"][int(numbered.group(1))]
            return [{"label": "x", "title": "x"}] * 150_000 if answer == "many" else json.loads(answer)
        if method == "textDocument/definition":
            return self.definition(uri, text, params["position"])
        if method == "textDocument/hover":
            name = word_at(text, params["position"])
            return {"contents": {"kind": "markdown", "value": f"hover of {name}"}} if name else None
        if method == "textDocument/diagnostic":
            where = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
            found = [{"range": where, "severity": 1, "message": "broken"}] if self.script.get("finds", "\0") in text else []
            return {"kind": "full", "items": found}
        return []

    def definition(self, uri: str, text: str, position: dict[str, int]) -> object:
        if "defined_at" in self.script:
            where = {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 9}}
            return {"uri": self.script["defined_at"], "range": where}
        name = word_at(text, position)
        before = re.findall(r"^def (\w+)", "\n".join(lines_of(text)[: position["line"]]), re.MULTILINE)
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
        elif kind == "half_body":
            self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body[:-9]))
            os._exit(0)
        elif kind == "huge":
            self.write(b"Content-Length: 200000000\r\n\r\n")
            for _ in range(200):
                self.write(b" " * 1_000_000)
        elif kind == "babble":
            while True:
                self.send({"method": "$/noise", "params": {}})
                time.sleep(0.001)
        elif kind == "late":
            time.sleep(self.script["late_s"])
            self.send({"id": message["id"], "result": None})
        elif kind == "answer_and_die":
            self.send({"id": message["id"], "result": None})
            threading.Timer(0.5, os._exit, [3]).start()
        elif kind == "kill_client":
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
        elif kind == "stop_client":
            os.kill(os.getppid(), signal.SIGSTOP)
            signal.pause()
        elif kind == "wrong_length":
            self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body) - 7, body) * 2)
        elif kind == "no_header":
            self.write(b"Traceback (most recent call last): oops\r\n\r\n")
        elif kind == "invalid_json":
            self.write(b"Content-Length: 9\r\n\r\n{not json")
        elif kind in RAW:
            body = b'{"jsonrpc":"2.0","id":%d,%b}' % (message["id"], RAW[kind])
            self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        elif kind == "twice":
            self.send({"id": message["id"], "result": None})
            self.send({"id": message["id"], "result": None})
        elif kind == "wrong_id":
            self.send({"id": 9_999_999, "result": None})
        elif kind == "wrong_shape":
            self.send({"id": message["id"], "result": {"uri": 1, "contents": 2, "items": 3}})
        elif kind == "swell":  # and never answers
            while True:
                self.leaked.append(os.urandom(1) * 20_000_000)
                time.sleep(0.02)
        elif kind == "many":
            where = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
            self.send({"id": message["id"], "result": [{"uri": f"file:///elsewhere/{number}.py", "range": where} for number in range(100)]})
        elif kind == "error":
            self.send({"id": message["id"], "error": {"code": -32603, "message": "internal error"}})
        else:
            self.flood(kind, message)

    def flood(self, kind: str, message: dict[str, Any]) -> None:
        while kind == "asks_for_ever":
            self.write(_requests(b"workspace/configuration", [b'{"items":[{}]}'] * 1_000, asks=True))
        while kind == "trickles":
            self.write(b"C")
            time.sleep(0.01)
        self.write(SIZED[kind](message, self.script["size"]))
        if kind in ("asks_much", "many_tokens", "many_registrations", "elsewhere"):
            self.usual(message)


ASKED_BY_FAULT = "asked by a fault"
"""The number of requests whose answers nobody waits for."""


def _framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _answer(message: dict[str, Any], result: bytes) -> bytes:
    return _framed(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (message["id"], result))


_WHERE = b'{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}'
_SYMBOL = b'{"name":"x%d","kind":12,"range":%b,"selectionRange":%b' % (0, _WHERE, _WHERE)


def _long(message: dict[str, Any], size: int) -> bytes:
    return _answer(message, b'{"contents":"%b"}' % (b"x" * size))


def _requests(method: bytes, params: Iterable[bytes], *, asks: bool) -> bytes:
    number = b'"id":"%b",' % ASKED_BY_FAULT.encode() if asks else b""
    return b"".join(_framed(b'{"jsonrpc":"2.0",%b"method":"%b","params":%b}' % (number, method, one)) for one in params)


SIZED: dict[str, Callable[[dict[str, Any], int], bytes]] = {
    "long": _long,
    "many_symbols": lambda message, size: _answer(message, b"[%b]" % b",".join([_SYMBOL + b"}"] * size)),
    "nested_symbols": lambda message, size: _answer(message, b"[%b%b]" % ((_SYMBOL + b',"children":[') * size, b"]}" * size)),
    "many_diagnostics": lambda message, size: _answer(
        message, b'{"kind":"full","items":[%b]}' % b",".join([b'{"range":%b,"message":"m"}' % _WHERE] * size)
    ),
    "asks_much": lambda message, size: _requests(b"workspace/configuration", [b'{"items":[%b]}' % b",".join([b"{}"] * size)], asks=True),
    "many_registrations": lambda message, size: _requests(
        b"client/registerCapability",
        (b'{"registrations":[{"id":"%d","method":"m%d"}]}' % (number, number) for number in range(size)),
        asks=True,
    ),
    "many_tokens": lambda message, size: _requests(
        b"$/progress", (b'{"token":"%d","value":{"kind":"begin","title":"x"}}' % number for number in range(size)), asks=False
    ),
    "elsewhere": lambda message, size: _requests(
        b"textDocument/publishDiagnostics",
        [b'{"uri":"file:///etc/passwd","diagnostics":[{"range":%b,"message":"forged"}]}' % _WHERE],
        asks=False,
    ),
}
"""What is large, or aims at what was not asked about: bytes to be written."""


RAW = {
    "invalid_utf8": b'"result":{"uri":"file:///\xff\xfe","contents":"\xff","items":["\xff"],"range":null}',
    "invalid_utf8_error": b'"error":{"code":1,"message":"\xff\xfe"}',
    "deep": b'"result":' + b"[" * 100_000 + b"]" * 100_000,
    "out_of_range": (
        b'"result":{"uri":"file:///a.py","contents":7,"items":[],"range":{"start":{"line":99999999999,"character":-1},'
        b'"end":{"line":99999999999999999999999,"character":0}}}'
    ),
    "strange_uri": (
        b'"result":{"uri":"file://[/a%00b.py","contents":"","items":[],"range":{"start":{"line":0,"character":0},'
        b'"end":{"line":0,"character":1}}}'
    ),
}
"""Answers that no JSON library would write."""


def fork(how: str) -> None:
    """Leaves a process behind that ends by SIGKILL only; its number is in FAKE_PIDS before this returns.

    In a session of its own where that may be had: a confined server may not.
    """
    command = [sys.executable, __file__, "--left-behind", how]
    own = how != "child" and _may_leave()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=own) as started:
        assert started.stdout is not None
        started.stdout.readline()
        started.returncode = 0  # nobody waits for it


def _may_leave() -> bool:
    """Whether a process may begin a session here; tried by one that has nothing else to do."""
    child = os.fork()
    if not child:
        try:
            os.setsid()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def left_behind(how: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if how == "orphan" and os.fork():
        os._exit(0)
    (Path(os.environ["FAKE_PIDS"]) / str(os.getpid())).touch()
    print(flush=True)
    sys.stdout.close()
    os.close(1)
    while True:
        signal.pause()


def lines_of(text: str) -> list[str]:
    """As the protocol counts them."""
    return re.split(r"\r\n|\r|\n", text)


def utf16(line: str, index: int) -> int:
    return len(line[:index].encode("utf-16-le")) // 2


def record(line: str) -> None:
    if "FAKE_RECORD" in os.environ:
        with Path(os.environ["FAKE_RECORD"]).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def word_at(text: str, position: dict[str, int]) -> str:
    lines = lines_of(text)
    line = lines[position["line"]] if position["line"] < len(lines) else ""
    for match in re.finditer(r"\w+", line):
        if utf16(line, match.start()) <= position["character"] < utf16(line, match.end()):
            return match.group()
    return ""


def first_definition(text: str, name: str) -> dict[str, Any] | None:
    if not name:
        return None
    word = re.escape(name)
    pattern = re.compile(rf"^[\s\ufeff]*(?:export\s+)?(?:(?:async\s+)?def\s+|class\s+|function\s+|const\s+)({word})\b|^\s*({word})\s*=")
    for number, line in enumerate(lines_of(text)):
        match = pattern.search(line)
        if match:
            start, end = (utf16(line, index) for index in match.span(1 if match.group(1) else 2))
            return {"start": {"line": number, "character": start}, "end": {"line": number, "character": end}}
    return None


def spy() -> None:
    """Tries each of FAKE_SPY's attempts; `done` or what the system said is written down."""
    attempts: dict[str, list[Any]] = json.loads(os.environ["FAKE_SPY"])
    outcomes: dict[str, str] = {}
    for name, (how, *words) in attempts.items():
        try:
            outcomes[name] = _tried(how, words) or "done"
        except OSError as error:
            outcomes[name] = type(error).__name__
    (Path(os.environ["FAKE_PIDS"]).parent / "spied.json").write_text(json.dumps(outcomes), encoding="utf-8")


def _tried(how: str, words: list[Any]) -> str:
    if how == "read":
        Path(words[0]).read_bytes()
    elif how == "list":
        os.listdir(words[0])
    elif how == "write":
        Path(words[0]).write_text("was here", encoding="utf-8")
    elif how == "connect":
        socket.create_connection(("127.0.0.1", words[0]), timeout=10).close()
    elif how == "abstract":
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"\0{words[0]}")
    elif how == "signal":
        os.kill(words[0], 0)
    elif how == "execute":
        subprocess.run([words[0]], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    elif how == "variable":
        return "done" if words[0] in os.environ else "absent"
    elif how == "variable of the parent":
        found = Path(f"/proc/{os.getppid()}/environ").read_bytes()
        return "done" if f"{words[0]}=".encode() in found else "absent"
    else:
        raise AssertionError(how)
    return ""


def listen() -> None:
    """The connection of the first who comes is stdin and stdout from then on."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        print(door.getsockname()[1], flush=True)
        connection, _ = door.accept()
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)


def main() -> None:
    if "--listen" in sys.argv:
        listen()
    script = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    record(f"processors {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()}")
    pids = os.environ.get("FAKE_PIDS")
    is_first = True
    if pids:
        is_first = not any(Path(pids).iterdir())
        (Path(pids) / str(os.getpid())).touch()
    if not is_first:
        script |= script.get("later", {})
    if script.get("spies"):
        spy()
    if script.get("ignores_shutdown"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Server(script, is_first).run()


if __name__ == "__main__":
    if sys.argv[1] == "--left-behind":
        left_behind(sys.argv[2])
    main()
