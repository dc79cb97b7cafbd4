"""Runs what ci/ holds without GitHub, GitLab or Docker: a small runner of workflows, and a server that answers like GitHub's API."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from toolchains import requires

ROOT = Path(__file__).parent.parent
CI = ROOT / "ci"
BIN = Path(sys.executable).parent
_ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"


def ends_well(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """What a command printed that has to end with 0."""
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def actionlint(*workflows: Path) -> None:
    """Holds workflows against GitHub's rules, and their scripts against shellcheck's."""
    requires("go")
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    assert shutil.which("shellcheck", path=env["PATH"])
    ends_well("go", "run", _ACTIONLINT, *workflows, env=env)


def load(path: Path) -> dict[str, Any]:
    """A YAML file; GitHub's key `on` is read as a word, not as `true`."""
    text = re.sub(r"^on:", '"on":', path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return yaml.safe_load(text)


def scripts(tree: Any) -> list[str]:
    """Every `run:` of a workflow or an action."""
    if isinstance(tree, dict):
        own = [tree["run"]] if isinstance(tree.get("run"), str) else []
        return own + [text for value in tree.values() for text in scripts(value)]
    return [text for item in tree for text in scripts(item)] if isinstance(tree, list) else []


def without_install(script: str) -> str:
    """A script without the two lines that make lspidx's environment, for a machine where it is there already."""
    return re.sub(r"^.*python3? -I -m (venv|pip install) .*(\n|$)", "", script, flags=re.MULTILINE)


def environment(home: Path, **more: str) -> dict[str, str]:
    """That of this process, for pip and npm need their settings, without what is about CI, git or lspidx."""
    kept = {name: value for name, value in os.environ.items() if not re.match(r"GITHUB_|GIT_|CI_|LSPIDX|PYTHON|VIRTUAL_ENV|RUNNER_", name)}
    git = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_CEILING_DIRECTORIES": str(home.parent)}
    return {**kept, **git, **more}


def home_of(machine: Path) -> dict[str, str]:
    """Where a machine that was just made keeps what is its user's: lspidx's secret is another one on each."""
    home = machine / "home"
    home.mkdir(exist_ok=True)
    return {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "LSPIDX_STATE_DIR": str(home / "state" / "lspidx")}


def git(folder: Path, *words: str) -> str:
    options = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *options, *words], cwd=folder, env=environment(folder), capture_output=True, encoding="utf-8", check=True)
    return done.stdout.strip()


class StepFailed(Exception):
    """A script has ended with an exit code that is not 0."""


@dataclass
class Storage:
    """What outlives a job: caches by key, the newest last, and artefacts as ZIP files."""

    folder: Path
    caches: dict[str, Path] = field(default_factory=dict)
    artifacts: dict[str, bytes] = field(default_factory=dict)


@dataclass
class Runner:
    """One machine that runs the steps of a job in order; `contexts` are what expressions name (`github`, `vars`, `matrix`, …).

    has_lspidx: its environment is there already, and no step makes it.
    """

    workspace: Path
    temp: Path
    storage: Storage
    contexts: dict[str, Any]
    log: str = ""
    summary: str = ""
    exported: dict[str, str] = field(default_factory=dict)
    has_lspidx: bool = False

    def job(self, workflow: Mapping[str, Any], name: str) -> None:
        """Runs a job to its end or its first failure."""
        job = workflow["jobs"][name]
        matrix = {key: values[0] for key, values in job.get("strategy", {}).get("matrix", {}).items()}
        self.contexts = {**self.contexts, "matrix": matrix, "steps": {}, "runner": {"temp": str(self.temp), "os": "Linux"}}
        self.exported |= {key: self.text(value) for key, value in workflow.get("env", {}).items()}
        self._steps(job["steps"])

    def text(self, value: Any) -> str:
        """A value with its expressions replaced."""
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: _plain(self._value(match[1])), str(value))

    def _value(self, expression: str) -> Any:
        found: Any = ""
        for term in expression.split("||"):
            term = term.strip()
            call = re.fullmatch(r"format\('(.*)', *(\S+)\)", term)
            if call:
                found = call[1].replace("{0}", _plain(self._value(call[2])))
            elif term.startswith("'"):
                found = term.strip("'")
            else:
                found = self.contexts
                for word in term.split("."):
                    found = found.get(word, "") if isinstance(found, dict) else ""
            if found:
                break
        return found

    def _steps(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            if "run" in step:
                self._run(step)
            else:
                self._use(step["uses"], {key: self.text(value) for key, value in step.get("with", {}).items()})

    def _use(self, action: str, given: dict[str, str]) -> None:
        if action.startswith("./"):
            declared = load(self.workspace / action / "action.yml")
            outer = self.contexts
            inputs = {name: given.get(name) or value.get("default", "") for name, value in declared["inputs"].items()}
            self.contexts = {**outer, "inputs": inputs, "steps": {}}
            self._steps(declared["runs"]["steps"])
            self.contexts = outer
            return
        match action.split("@")[0]:
            case "actions/checkout" | "actions/setup-python":
                pass
            case "actions/cache/restore":
                self._restore(given)
            case "actions/cache/save":
                kept = self.storage.folder / f"cache-{len(self.storage.caches)}"
                shutil.copytree(self.workspace / given["path"], kept, symlinks=True)
                self.storage.caches.setdefault(given["key"], kept)
            case "actions/upload-artifact":
                self.storage.artifacts[given["name"]] = _packed(self.workspace / given["path"])
            case "actions/download-artifact":
                for name, content in self.storage.artifacts.items():
                    if fnmatch(name, given["pattern"]):
                        zipfile.ZipFile(io.BytesIO(content)).extractall(given["path"])
            case other:
                raise AssertionError(f"no stand-in for {other}")

    def _restore(self, given: dict[str, str]) -> None:
        caches = self.storage.caches
        prefixes = given.get("restore-keys", "").split()
        hit = caches.get(given["key"]) or next((caches[key] for key in reversed(caches) if any(map(key.startswith, prefixes))), None)
        if hit is not None:
            shutil.copytree(hit, self.workspace / given["path"], symlinks=True, dirs_exist_ok=True)

    def _run(self, step: dict[str, Any]) -> None:
        files = {name: self.temp / name for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
        for file in files.values():
            file.write_text("")
        script = self.temp / "script.sh"
        script.write_text(without_install(step["run"]) if self.has_lspidx else step["run"], encoding="utf-8")
        own = {key: self.text(value) for key, value in step.get("env", {}).items()}
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail"] if step.get("shell") == "bash" else ["bash", "-e"]
        done = subprocess.run(
            [*shell, str(script)],
            cwd=self.text(step["working-directory"]) if "working-directory" in step else self.workspace,
            env=environment(
                self.workspace,
                **self.exported,
                **{name: str(path) for name, path in files.items()},
                **home_of(self.temp),
                RUNNER_TEMP=str(self.temp),
                CI="true",
                **own,
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        self.log += done.stdout
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        self.exported |= _pairs(files["GITHUB_ENV"])
        if "id" in step:
            self.contexts["steps"][step["id"]] = {"outputs": _pairs(files["GITHUB_OUTPUT"])}
        if done.returncode:
            raise StepFailed(f"{step.get('name')} ended with {done.returncode}\n{done.stdout[-3000:]}")


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _pairs(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text(encoding="utf-8").splitlines())


def _packed(folder: Path) -> bytes:
    return zip_of({path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()})


def zip_of(files: Mapping[str, bytes | str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


# ---- GitHub's API


TOKEN = "ghs_token"


@dataclass
class FakeGitHub:
    """Pull requests, comments and one run's artefact; remembers what was written, and which token each host was shown."""

    pulls: list[dict[str, Any]]
    artifact: bytes = b""
    name: str = "lspidx-report"
    size: int | None = None
    code_scanning: bool = True
    comments: list[dict[str, Any]] = field(default_factory=list)
    uploads: list[dict[str, Any]] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    blob_headers: list[str | None] = field(default_factory=list)
    url: str = ""

    def __enter__(self) -> FakeGitHub:
        outer = self

        class Api(_Handler):
            def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
                assert self.headers["Authorization"] == f"Bearer {TOKEN}"
                return outer._answer(method, path.removeprefix("/repos/team/shop/"), query, body)

        class Blobs(_Handler):
            def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
                outer.blob_headers.append(self.headers["Authorization"])
                return 200, outer.artifact

        self._servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for handler in (Api, Blobs)]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.url, self._blobs = (f"http://127.0.0.1:{server.server_address[1]}" for server in self._servers)
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        if method != "GET":
            self.written.append(f"{method} {path}")
        if path == "actions/runs/7/artifacts":
            size = len(self.artifact) if self.size is None else self.size
            return 200, {"artifacts": [{"id": 70, "name": self.name, "size_in_bytes": size, "expired": False}] if self.artifact else []}
        if path == "actions/artifacts/70/zip":
            return 302, f"{self._blobs}/blob"
        if path == "pulls":
            return 200, [item for item in self.pulls if f"{item['head']['repo']['owner']['login']}:{item['head']['ref']}" == query["head"]]
        number = re.fullmatch(r"issues/(\d+)/comments", path)
        if number and method == "GET":
            mine = [item for item in self.comments if item["issue"] == int(number[1])]
            start = (int(query["page"]) - 1) * int(query["per_page"])
            return 200, mine[start : start + int(query["per_page"])]
        if number and method == "POST":
            self.comments.append(comment(int(number[1]), body["body"], id=1000 + len(self.comments)))
            return 201, {}
        if path.startswith("issues/comments/") and method == "PATCH":
            (found,) = [item for item in self.comments if item["id"] == int(path.rpartition("/")[2])]
            found["body"] = body["body"]
            return 200, {}
        if path == "code-scanning/sarifs" and method == "POST":
            if not self.code_scanning:
                return 403, {"message": "Advanced Security must be enabled"}
            self.uploads.append(body)
            return 202, {"id": "x"}
        return 404, {"message": f"no such call: {method} {path}"}


def comment(issue: int, body: str, *, author: str = "github-actions[bot]", id: int = 1) -> dict[str, Any]:
    return {"id": id, "issue": issue, "body": body, "user": {"login": author}}


def pull(number: int, *, owner: str = "fork", ref: str = "feature", sha: str = "a" * 40) -> dict[str, Any]:
    """An open pull request to team/shop."""
    repository = {"full_name": f"{owner}/shop", "owner": {"login": owner}}
    return {"number": number, "head": {"sha": sha, "ref": ref, "repo": repository}, "base": {"repo": {"full_name": "team/shop"}}}


class _Handler(BaseHTTPRequestHandler):
    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        raise NotImplementedError

    def _serve(self) -> None:
        address = urllib.parse.urlsplit(self.path)
        content = self.rfile.read(int(self.headers["Content-Length"] or 0))
        status, answer = self.answer(
            self.command, address.path, dict(urllib.parse.parse_qsl(address.query)), json.loads(content) if content else None
        )
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", answer)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):  # the client has had enough
            pass

    do_GET = do_POST = do_PATCH = _serve

    def log_message(self, format: str, *args: Any) -> None:
        pass
