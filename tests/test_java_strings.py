"""Strings of Java by which tests, reflection and frameworks find methods: each is a name that is looked up."""

from __future__ import annotations

import pytest

from indexer.model import NameUse
from indexer.syntax.tree import parse


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('@MethodSource("given")', "given"),
        ('@MethodSource({"given", "other"})', "other"),
        ('@MethodSource("shop.Prices#given")', "given"),
        ('@MethodSource("shop.Prices#given(int)")', "given"),
        ('@EnabledIf("given")', "given"),
        ('@DisabledIf(value = "given")', "given"),
        ('@Test(dataProvider = "given")', "given"),
        ('@Test(dependsOnMethods = {"given"})', "given"),
        ('@DataProvider(name = "given")', "given"),
        ('@Bean(initMethod = "given", destroyMethod = "end")', "end"),
    ],
)
def test_an_annotation_names_a_method(text: str, name: str):
    assert _members(f"class A {{\n  {text}\n  void f() {{}}\n}}\n") >= {name}


@pytest.mark.parametrize(
    "call",
    [
        'type.getMethod("given", int.class)',
        'ReflectionUtils.findMethod(A.class, "given")',
        'ReflectionTestUtils.invokeMethod(this, "given")',
        'ReflectionTestUtils.setField(this, "given", 1)',
        'lookup.findVirtual(A.class, "given", type)',
        'lookup.findStatic(A.class, "given", type)',
        'Whitebox.invokeMethod(this, "given")',
        'new PropertyDescriptor("given", A.class)',
        'MethodUtils.invokeExactMethod(this, "given")',
        'AtomicIntegerFieldUpdater.newUpdater(A.class, "given")',
    ],
)
def test_reflection_names_a_member(call: str):
    assert "given" in _members(f"class A {{\n  void f() {{\n    {call};\n  }}\n}}\n")


def test_a_word_of_another_call_is_no_name():
    assert _members('class A {\n  void f() {\n    log.info("given");\n    map.get("given");\n  }\n}\n') == set()


def _members(text: str) -> set[str]:
    return {one.name for one in parse("java", "A.java", text.encode(), "A").strings if one.use is NameUse.MEMBER}
