"""Which words of a file name what another language defines: only where the file has an interface to that language."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer import bridges
from indexer.languages import LANGUAGES
from indexer.languages.scripts import AT_BORDERS
from indexer.text import word_digest


def _has(language: str, text: str, word: str) -> bool:
    return word_digest(word) in bridges.words_of(language, text.encode())


@pytest.mark.parametrize(
    ("language", "text", "word"),
    [
        ("python", 'import ctypes\nlib = ctypes.CDLL("x")\nlib.start()\n', "@native start"),
        ("python", 'import ctypes\nlib["start"]\n', "@native start"),
        ("python", "import ctypes\n", "@native *"),
        ("python", 'from cffi import FFI\nffi.cdef("""\nint start(int);\n""")\n', "@native start"),
        ("go", 'package a\n\nimport "C"\n\nvar x = C.start(1)\n', "@native start"),
        ("go", 'package a\n\nimport "C"\n\nvar x C.struct_motor\n', "@native motor"),
        ("go", 'package a\n\nimport "C"\n\nfunc f(m *C.motor) { m.speed = 1 }\n', "@native .speed"),
        ("go", 'package a\n\n// int twice() { return start(); }\nimport "C"\n', "@native start"),
        ("rust", 'extern "C" {\n    fn start(a: i32) -> i32;\n}\n', "@native start"),
        ("rust", "#[no_mangle]\npub extern fn start() {}\n", "@native =start"),
        ("javascript", "const { start } = (await WebAssembly.instantiate(x)).instance.exports;\n", "@native start"),
        ("java", "package a.b_c;\nclass Motor { private static native int start(int a); }\n", "@native Java_a_b_1c_Motor_start"),
        ("java", "package a;\nclass Motor { static class Inner { native int start(); } }\n", "@native Java_a_Motor_00024Inner_start"),
        ("kotlin", "package a\nclass Motor { external fun start(): Int }\n", "@native Java_a_Motor_start"),
        ("c", '#include <jni.h>\nint f(void) { return id(env, type, "start", "()V"); }\n', "@java start"),
        ("c", "int Java_shop_Motor_start(void) { return 1; }\n", "@java =start"),
        ("c", '#include <Python.h>\nvoid f(void) { it\'s(PyObject_GetAttrString(m, "start")); }\n', "@python start"),
        ("lua", "local ffi = require 'ffi'\nffi.C.start()\n", "@native start"),
        ("php", "<?php FFI::cdef('int start(int);', 'x');\n", "@native start"),
        ("sql", "CREATE FUNCTION a() RETURNS int AS 'MODULE_PATHNAME', 'start' LANGUAGE C;\n", "@native start"),
    ],
)
def test_a_file_with_an_interface_names_what_the_other_language_has(language: str, text: str, word: str):
    assert _has(language, text, word)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "lib.start()\n"),
        ("go", "package a\n\nvar x = c.start(1)\n"),
        ("rust", "fn start() {}\n"),
        ("javascript", "exports.start();\n"),
        ("java", "package a;\nclass Motor { int start() { return 1; } }\n"),
        ("c", 'const char *f(void) { return "start"; }\n'),
        ("php", "<?php start();\n"),
        ("bash", "start\n"),
    ],
)
def test_a_file_without_one_names_nothing(language: str, text: str):
    assert bridges.words_of(language, text.encode()) == ()


def test_a_name_of_c_has_no_ending_of_an_overload():
    assert bridges.names_of("Java_a_B_run__I") == ("Java_a_B_run__I", "_Java_a_B_run__I", "Java_a_B_run")
    assert bridges.names_of("do__it") == ("do__it", "_do__it")


def test_every_pattern_of_a_record_is_one():
    for language in (*LANGUAGES, *AT_BORDERS):
        for text in (b"", b'x "y" import', b"(" * 2_000, b'"' * 2_000, b"extern {" * 500):
            bridges.words_of(language.name, text)


_EVIDENCE = sorted({bridge.evidence for record in LANGUAGES for bridge in record.bridges if bridge.evidence})


@pytest.mark.parametrize("pattern", _EVIDENCE)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_file_with_evidence_has_one_of_the_texts_without_which_there_is_none(pattern: str, data: st.DataObject) -> None:
    content = data.draw(st.from_regex(re.compile(pattern.encode(), re.MULTILINE)))
    needed = bridges.needed_texts(pattern)
    assert not needed or any(text in content for text in needed)


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"\bcolou?r\b", ("colo",)),
        (r"fo+bar", ("bar",)),
        (r"ab{0,3}cd|x{100}yz", ("cd", "yz")),
        (r"(?:left|right)[a-z]+hand", ("hand",)),
        (r"(?:left|right)", ()),
        (r"long|(?:a|b)", ()),
        (r"(?i)FFI", ()),
        (r"\x41bc\|de", ("bc",)),
        (r"[]|xyz]q", ()),
    ],
)
def test_needed_texts_are_what_no_match_can_lack(pattern: str, needed: tuple[str, ...]) -> None:
    assert bridges.needed_texts(pattern) == tuple(text.encode() for text in needed)
