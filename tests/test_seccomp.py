"""The filter of system calls as a program: run by an interpreter, for both machines, since a test runs on one only."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from indexer import seccomp

_HEADERS = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "/usr/include/asm-generic/unistd.h"}
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, ENDED, NOTHING = 0x7FFF0000, 0x80000000, 0x00050000


def _refused(error: int) -> int:
    return 0x00050000 | error


def _verdict(machine: str, number: int, arguments: Sequence[int] = (), *, audit: int | None = None) -> int:
    """What the kernel would answer."""
    data = [number, _AUDIT[machine] if audit is None else audit, 0, 0]
    for argument in (*arguments, *[0] * (6 - len(arguments))):
        data += [argument & 0xFFFFFFFF, argument >> 32]
    program, at, held = seccomp.instructions(machine), 0, 0
    while True:
        operation, yes, no, number = program[at]
        at += 1
        if operation == 0x06:
            return number
        if operation == 0x20:
            held = data[number // 4]
        elif operation == 0x54:
            held &= number
        else:
            at += yes if {0x15: held == number, 0x25: held > number, 0x35: held >= number, 0x45: bool(held & number)}[operation] else no


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_each_call_gets_the_answer_of_the_table(machine: str) -> None:
    column = list(_AUDIT).index(machine)
    for name, answer in (
        ("socket", _refused(errno.EACCES)),
        ("connect", _refused(errno.EACCES)),
        ("fchmod", NOTHING),
        ("io_uring_setup", _refused(errno.ENOSYS)),
        ("clone3", _refused(errno.ENOSYS)),
        ("setsid", _refused(errno.EPERM)),
        ("ptrace", _refused(errno.EPERM)),
        ("unshare", _refused(errno.EPERM)),
        ("vhangup", _refused(errno.EPERM)),
    ):
        assert _verdict(machine, seccomp.NUMBERS[name][column]) == answer, name
    read, openat, execve = {"x86_64": (0, 257, 59), "aarch64": (63, 56, 221)}[machine]
    assert [_verdict(machine, number) for number in (read, openat, execve)] == [ALLOWED] * 3
    assert _verdict(machine, 470) == _refused(errno.ENOSYS)
    assert _verdict(machine, read, audit=0x40000003) == ENDED
    if machine == "x86_64":
        assert _verdict(machine, 0x40000000 + read) == ENDED


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_some_calls_are_judged_by_their_arguments(machine: str) -> None:
    column = list(_AUDIT).index(machine)

    def verdict(name: str, *arguments: int) -> int:
        return _verdict(machine, seccomp.NUMBERS[name][column], arguments)

    thread, user_namespace, closed = 0x3D0F00, 0x10000000 | 17, 0o2000000
    assert (verdict("clone", 17), verdict("clone", thread)) == (ALLOWED, ALLOWED)
    assert verdict("clone", user_namespace) == _refused(errno.EPERM)
    assert (verdict("socketpair", 1, 1 | closed), verdict("socketpair", 1, 5)) == (ALLOWED, ALLOWED)
    for family, kind in ((1, 2), (1, 3), (1, 2 | closed), (2, 1), (16, 3)):
        assert verdict("socketpair", family, kind) == _refused(errno.EACCES)
    assert verdict("sendto", 3, 0, 1, 0, 0, 0) == ALLOWED
    for address in (1, 1 << 32, 0x7FFF00000000):
        assert verdict("sendto", 3, 0, 1, 0, address, 16) == _refused(errno.EACCES)
    assert verdict("ioctl", 0, 0x5401) == ALLOWED
    assert (verdict("ioctl", 0, 0x5412), verdict("ioctl", 0, 0x541C)) == (_refused(errno.EPERM), _refused(errno.EPERM))
    assert verdict("ioctl", 0, 0x5412 | 1 << 32) == _refused(errno.EPERM), "the kernel looks at the lower half only"
    assert (verdict("prlimit64", 0, 7), verdict("prlimit64", 1, 7)) == (ALLOWED, _refused(errno.EPERM))


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_numbers_are_those_of_the_headers(machine: str) -> None:
    """Where they are installed; a header may be older than a call."""
    header = Path(_HEADERS[machine])
    if not header.is_file():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", header.read_text(encoding="utf-8"), re.MULTILINE)
    known: Mapping[str, int] = {name: int(number) for name, number in found}
    column = list(_AUDIT).index(machine)
    compared = {name: numbers[column] for name, numbers in seccomp.NUMBERS.items() if name in known}
    assert len(compared) > 70
    assert compared == {name: known[name] for name in compared}
    absent = [name for name, numbers in seccomp.NUMBERS.items() if numbers[column] < 0]
    assert not [name for name in absent if name in known and name != "uselib"]
