"""A filter of system calls for a confined process: what Landlock has no rule for, and what no language server needs.

Landlock knows files and TCP. It knows neither UDP nor sockets that are files, no io_uring, no change of modes and owners, no process
that leaves its group. The kernel decides each call by a small program (seccomp, classic BPF), which is made before the fork and is
handed over by one system call between fork and exec (ADR 0028).

The table names what is refused and not what is allowed: a server is a Node, a Java or a Go runtime of any version, and a list of
what these may call would have to be kept for each. A call that is younger than this table does not exist for a confined process.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NOTHING_HAPPENS = _ERROR
"""The call returns 0 and does nothing."""

_LOAD, _AND, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_FROM, _JUMP_ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16
_SET_FILTER, _IS_ACTION_KNOWN, _KEEP_SPEED = 1, 2, 4
_X32 = 0x40000000
_NEWEST = 469
"""The last system call that this table was written with; both machines count alike from 424 on."""


class _Machine(NamedTuple):
    audit: int
    seccomp: int
    column: int


_MACHINES = {"x86_64": _Machine(0xC000003E, 317, 0), "aarch64": _Machine(0xC00000B7, 277, 1)}

# The numbers are those of `NUMBERS`, below.
_NETWORK = {"socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201)}
_MODES = {"chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452)}
_ABSENT = {"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "clone3": (435, 435)}
_REFUSED = {
    # owners and attributes of files, which Landlock lets pass for every file of the user
    "chown": (92, -1),
    "lchown": (94, -1),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    # leaving the process group, which is what is killed in the end
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # memory and queues that are shared by a key
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # the kernel's keys
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # doors into the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "iopl": (172, -1),
    "ioperm": (173, -1),
    "modify_ldt": (154, -1),
    "uselib": (134, -1),
    "lookup_dcookie": (212, 18),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # the machine as a whole
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "vhangup": (153, 58),
}
_BY_ARGUMENT = {"clone": (56, 220), "socketpair": (53, 199), "sendto": (44, 206), "ioctl": (16, 29), "prlimit64": (302, 261)}
NUMBERS = {**_NETWORK, **_MODES, **_ABSENT, **_REFUSED, **_BY_ARGUMENT}
"""Of every call that the filter knows: its number on x86_64 and on aarch64; -1 where the machine has no such call."""

_NAMESPACES = 0x7E020000
_UNIX, _STREAM, _SEQUENCE = 1, 1, 5
_TERMINAL_INPUT, _CONSOLE = 0x5412, 0x541C


def is_available() -> bool:
    """Whether this kernel filters system calls, on a machine whose calls we have the numbers of."""
    return _is_available()


@functools.cache
def _is_available() -> bool:
    machine = _machine()
    if machine is None:
        return False
    action = ctypes.c_uint32(_KILL)
    return _call()(ctypes.c_long(machine.seccomp), _IS_ACTION_KNOWN, 0, ctypes.byref(action)) == 0


def why_not() -> str:
    """Why there is no filter here; to be asked where there is none."""
    if sys.platform != "linux":
        return "seccomp is of Linux"
    return "this kernel has no seccomp" if _machine() else f"its system calls are not known for {os.uname().machine}"


def prepare() -> None:
    """Makes in the parent all that `enter` uses, so that nothing is made between fork and exec."""
    if is_available():
        _program()


def enter() -> None:
    """Called in the child, after `no_new_privs` is set and as the last step before exec.

    Raises:
        OSError: the kernel refuses what it said it could.
    """
    machine = _machine()
    assert machine is not None
    program, call = _program(), _call()
    # Without the flag an old kernel slows every confined process down, as a guard between parts of one process that we do not have.
    for flags in (_KEEP_SPEED, 0):
        if call(ctypes.c_long(machine.seccomp), _SET_FILTER, flags, ctypes.byref(program)) == 0:
            return
    raise OSError("seccomp refuses")


def _machine() -> _Machine | None:
    if sys.platform != "linux" or sys.byteorder != "little" or struct.calcsize("P") != 8:
        return None
    return _MACHINES.get(os.uname().machine)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


@functools.cache
def _program() -> _Program:
    made = instructions(os.uname().machine)
    return _Program(len(made), b"".join(struct.pack("=HBBI", *instruction) for instruction in made))


@functools.cache
def _call() -> Callable[..., int]:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    return call


_Instruction = tuple[int, int, int, int]
"""Operation, how many to skip where it holds, how many where it does not, its number."""


def instructions(machine: str) -> list[_Instruction]:
    """The program that decides on each system call of a machine that is known."""
    return list(_instructions(_MACHINES[machine]))


def _instructions(machine: _Machine) -> Iterator[_Instruction]:
    yield (_LOAD, 0, 0, _MACHINE_AT)
    yield (_JUMP_EQUAL, 1, 0, machine.audit)
    yield _answer(_KILL)  # a program for another machine, or one that calls as if it were: other numbers mean other calls
    yield (_LOAD, 0, 0, _NUMBER_AT)
    if machine.column == 0:
        yield (_JUMP_FROM, 0, 1, _X32)
        yield _answer(_KILL)
    yield (_JUMP_ABOVE, 0, 1, _NEWEST)
    yield _answer(_ERROR | errno.ENOSYS)
    for calls, answer in (
        (_ABSENT, _ERROR | errno.ENOSYS),  # as on a kernel without them: runtimes know another way
        (_MODES, _NOTHING_HAPPENS),  # who unpacks its own files sets their modes, and ends if that fails
        (_NETWORK, _ERROR | errno.EACCES),
        (_REFUSED, _ERROR | errno.EPERM),
    ):
        for numbers in calls.values():
            if numbers[machine.column] >= 0:
                yield (_JUMP_EQUAL, 0, 1, numbers[machine.column])
                yield _answer(answer)
    for name, block in _BLOCKS.items():
        yield (_JUMP_EQUAL, 0, len(block), NUMBERS[name][machine.column])
        yield from block
    yield _answer(_ALLOW)


def _answer(what: int) -> _Instruction:
    return (_RETURN, 0, 0, what)


def _argument(number: int, *, upper_half: bool = False) -> _Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * number + (4 if upper_half else 0))


_BLOCKS: dict[str, tuple[_Instruction, ...]] = {
    # threads and processes are made, namespaces are not
    "clone": (_argument(0), (_JUMP_ANY_BIT, 0, 1, _NAMESPACES), _answer(_ERROR | errno.EPERM), _answer(_ALLOW)),
    # a pair of streams is two ends of a pipe; one of a pair of datagram sockets can write to every socket that is a file
    "socketpair": (
        _argument(0),
        (_JUMP_EQUAL, 0, 4, _UNIX),
        _argument(1),
        (_AND, 0, 0, 0xF),
        (_JUMP_EQUAL, 2, 0, _STREAM),
        (_JUMP_EQUAL, 1, 0, _SEQUENCE),
        _answer(_ERROR | errno.EACCES),
        _answer(_ALLOW),
    ),
    # with an address
    "sendto": (
        _argument(4),
        (_JUMP_EQUAL, 0, 2, 0),
        _argument(4, upper_half=True),
        (_JUMP_EQUAL, 1, 0, 0),
        _answer(_ERROR | errno.EACCES),
        _answer(_ALLOW),
    ),
    # typing into a terminal
    "ioctl": (
        _argument(1),
        (_JUMP_EQUAL, 1, 0, _TERMINAL_INPUT),
        (_JUMP_EQUAL, 0, 1, _CONSOLE),
        _answer(_ERROR | errno.EPERM),
        _answer(_ALLOW),
    ),
    # limits of another process
    "prlimit64": (_argument(0), (_JUMP_EQUAL, 1, 0, 0), _answer(_ERROR | errno.EPERM), _answer(_ALLOW)),
}
