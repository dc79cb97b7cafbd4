"""Stores of artifacts on loopback: a web server that may misbehave, and S3 stores in processes of their own."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from toolchains import BESIDE, requires

Answer = Callable[["Handler"], None]
KEY, SECRET = "lspidxtestkey", "lspidxtestsecret"


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder, takes PUT into it, and misbehaves where the server's `answers` say so. HTTP/1.1, as stores speak."""

    protocol_version = "HTTP/1.1"
    server: WebServer

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.server.seen.append((self.command, self.path, dict(self.headers)))
        for part, answer in self.server.answers.items():
            if part in self.path:
                answer(self)
                return
        super().do_GET()

    def do_PUT(self) -> None:
        self.server.seen.append((self.command, self.path, dict(self.headers)))
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.refuses_writing:
            self.say(self.server.refuses_writing)
            return
        place = Path(self.translate_path(self.path))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.server.change(content))
        self.say(201)

    def say(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(content)


class WebServer(ThreadingHTTPServer):
    """answers: what to do in place of serving, by a part of the path. change: what becomes of what is written. sent: the floods."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.answers: dict[str, Answer] = {}
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.refuses_writing = 0
        self.sent: queue.Queue[int] = queue.Queue()
        self.change: Callable[[bytes], bytes] = lambda content: content
        super().__init__(("127.0.0.1", 0), lambda *arguments: Handler(*arguments, directory=str(folder)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some tests want."""


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[WebServer]:
    folder.mkdir(exist_ok=True)
    server = WebServer(folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    """Nobody listens there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextlib.contextmanager
def object_store(kind: str, folder: Path) -> Iterator[str]:
    """The endpoint of an S3 store with the bucket `indexes`.

    moto: from PyPI; it keeps everything in memory and checks no signatures. versitygw: a real gateway to a folder, which checks them.
    """
    port = free_port()
    environment = {**os.environ, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
    if kind == "moto":
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    else:
        requires("versitygw")
        found = shutil.which("versitygw", path=f"{BESIDE}{os.pathsep}{os.environ['PATH']}") or ""
        command = [found, "--port", f"127.0.0.1:{port}", "--quiet", "posix", str(folder)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            endpoint = f"http://127.0.0.1:{port}"
            _await(endpoint, process)
            _make_bucket(endpoint)
            yield endpoint
        finally:
            process.terminate()


def _await(endpoint: str, process: subprocess.Popen[bytes]) -> None:
    """Returns when somebody answers there, whatever."""
    for _ in range(300):
        assert process.poll() is None, "the store has ended"
        try:
            urllib.request.urlopen(endpoint, timeout=5).close()
            return
        except urllib.error.HTTPError as error:
            error.close()
            return
        except OSError:
            threading.Event().wait(0.1)
    raise AssertionError("the store does not come up")


def _make_bucket(endpoint: str) -> None:
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint, aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1")
    client.create_bucket(Bucket="indexes")
    client.close()


def aws(endpoint: str, secret: str = SECRET) -> dict[str, str]:
    """The environment in which AWS's clients find it, and nothing of this machine's."""
    return {
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
