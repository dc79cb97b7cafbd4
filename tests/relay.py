"""Stands for a command that `commands.py` forks, for who starts a program himself: hands its streams on, and ends as that ends.

Words: the address of the process that forks, what it is told beside (JSON, see `commands.py`), then those of the command.
"""

import json
import os
import signal
import socket
import sys

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main(address: str, beside: str, *words: str) -> int:
    ours, its = socket.socketpair()
    request = {"words": [*words], "cwd": os.getcwd(), "env": dict(os.environ), "first": "", **json.loads(beside)}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(f"\0{address}")
        socket.send_fds(server, [json.dumps(request).encode()], [its.fileno(), 0, 1, 2])
    its.close()
    for number in range(3):  # who waits for the end of a stream must not wait for this process
        os.close(number)
    replies = ours.makefile("r")
    pid = int(replies.readline())
    for number in SIGNALS:
        signal.signal(number, lambda told, _: os.kill(pid, told))
    code: int = json.loads(replies.readline())[0]
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]))
