"""stdin and stdout: one client, which started us. stdout carries the protocol and nothing else."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from query.lsp.rooms import Options
from query.lsp.server import Server, lives
from query.lsp.wire import Wire

_WATCH_S = 1.0


def serve(options: Options, start: Path) -> int:
    """The exit code. Returns when stdin closes; ends the process when the client's has gone (another may hold our stdin open)."""
    source, sink = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what we start must neither read the client's words nor write beside ours
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    server = Server(Wire(source, sink), options, start)
    threading.Thread(target=_watch, args=(server, os.getppid()), name="client", daemon=True).start()
    return server.serve()


def _watch(server: Server, parent: int) -> None:
    while os.getppid() == parent and (not server.client or lives(server.client)):
        time.sleep(_WATCH_S)
    server.close()
    os._exit(1)
