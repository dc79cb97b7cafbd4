"""Stands for a command that `commands.py` forks, for who starts a program himself: hands its streams on, and ends as that ends.

Words: the address of the process that forks, the modules to be loaded there before (JSON), then those of the command.
"""

import json
import os
import signal
import socket
import sys

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main(address: str, loads: str, *words: str) -> int:
    ours, its = socket.socketpair()
    request = {"words": [*words], "cwd": os.getcwd(), "env": dict(os.environ), "first": "", "loads": json.loads(loads)}
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
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]))
