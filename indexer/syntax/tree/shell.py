"""Words of a shell's text that may name a function where no command stands: texts that are run, values, arguments (ADR 0087).

A shell runs whatever a variable, an argument or a text holds. Which of these words mean a function, only all files together show
(`query.facts.gaps.shell_words`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from indexer.languages import record_of
from indexer.syntax.tree.grammars import grammar_of


class Way(StrEnum):
    """What is done with a word. RUN: it is a command of a text that is run. HELD: a value. GIVEN: an argument. ASKED: only asked about."""

    RUN = "run"
    HELD = "held"
    GIVEN = "given"
    ASKED = "asked"


class Spoken(NamedTuple):
    """A word, 0-based.

    word: the name, or, where a part of it is made, a regex. by: the command that has it, "$" where that is made, or the variable that
    holds it. is_alone: no other words stand in the same string.
    """

    line: int
    word: str
    is_made: bool
    way: Way
    by: str
    is_alone: bool = True


class Running(NamedTuple):
    """What one text runs that is made, with 0-based lines.

    variables: that are expanded where a command stands, in the text or in one that is run; `!` where the value of one names another.
    flows: a variable and one of which its value is made; the second is empty where it is set to something else. given: a command, and a
    variable that it is given.
    """

    variables: frozenset[tuple[int, str]]
    flows: frozenset[tuple[int, str, str]]
    given: frozenset[tuple[int, str, str]]


class Words(NamedTuple):
    """Of one text."""

    spoken: tuple[Spoken, ...]
    running: Running


_WORD = r"[\w.:+@-]+"
_NAME = re.compile(_WORD)
_MADE = r"(?:[\w.:+@-]|\$\{[^{}\s]*+\}|\$\{?\w++\}?)++"
_BEFORE = r"\b(?:then|do|else|elif|if|while|until|time|exec|command|builtin|eval|sudo|env)\b"
_COMMAND = re.compile(rf"(?:^|[;&|({{`!\n]|{_BEFORE})[ \t]*+(?:\w++=\S*+[ \t]++)*+(?!{_BEFORE})({_MADE})")
_SUBSTITUTION = re.compile(rf"(?:\$\(|`)[ \t]*({_MADE})")
_EXPANSION = re.compile(r"\$\{[^{}\s]*\}|\$\{?\w+")
_LAST = re.compile(rf"(?:\A|[:=])\s*({_MADE})")
_ASKING = frozenset({"type", "command", "declare", "typeset", "which", "hash", "unset", "export"})
_PROMPTS = re.compile(r"PROMPT_COMMAND|PS[0-4]|BASH_ENV|ENV|debian_chroot")
_WITH_FUNCTION = frozenset({"-F", "-C"})
_LITERALS = ("word", "string", "raw_string", "concatenation", "ansi_c_string", "simple_expansion", "expansion", "number")


def words_of(language: str, path: str, source: bytes) -> Words:
    """Of one file, by position, each once."""
    grammar = grammar_of(language, path)
    record = record_of(language)
    return _Reader(record.runs_words, record.runs_texts).read(grammar.parser.parse(grammar.rewritten(source)).root_node)


class _Reader:
    """Walks over one tree."""

    def __init__(self, runners: frozenset[str], shells: frozenset[str]) -> None:
        """`runners`: commands that run the words which they are given. `shells`: those that are given a text, or read one."""
        self._runners, self._shells = runners, shells
        self._variables: set[tuple[int, str]] = set()
        self._flows: set[tuple[int, str, str]] = set()
        self._given: set[tuple[int, str, str]] = set()

    def read(self, root: Any) -> Words:
        found: set[Spoken] = set()
        waiting: list[Any] = [root]
        while waiting:
            node = waiting.pop()
            match node.type:
                case "command":
                    found.update(self._of_command(node))
                    found.update(_of_redirection(node, self._shells))
                case "declaration_command":
                    found.update(_spoken(node, word, Way.ASKED, "declare") for word in node.named_children if word.type == "word")
                case "variable_assignment":
                    found.update(self._of_assignment(node))
                case "for_statement":
                    found.update(self._of_loop(node))
                case "redirected_statement":
                    found.update(_of_redirection(node, self._shells))
                case "expansion":
                    found.update(_of_default(node))
                case "raw_string":
                    found.update(_of_text(node, _SUBSTITUTION, ""))
                case _:
                    pass
            waiting.extend(node.named_children)
        running = Running(frozenset(self._variables), frozenset(self._flows), frozenset(self._given))
        return Words(tuple(sorted(one for one in found if one.word)), running)

    def _runs(self, node: Any) -> None:
        self._variables.update((node.start_point[0], name) for name in _variables(node))

    def _runs_text(self, node: Any) -> None:
        """Of a text that is run what is expanded where a command stands; `$name=value` sets a variable."""
        text = _unquoted(node.text.decode("utf-8", "replace"))
        for match in _COMMAND.finditer(text):
            if not text.startswith("=", match.end()) and (names := _EXPANDED.findall(match[1].encode())):
                self._variables.update((node.start_point[0], name.lstrip(b"${#!").decode("utf-8", "replace")) for name in names)

    def _of_command(self, node: Any) -> Iterator[Spoken]:
        name = node.child_by_field_name("name")
        if name is None:
            return
        first = name.named_child(0)
        command = _literal(first) or ""
        if not command and first is not None:
            self._runs(first)
            self._variables.update((name.start_point[0], printed) for printed in _printed(first))
            yield _spoken(name, first, Way.RUN, "")
        given = [child for child in node.children_by_field_name("argument") if child.type in _LITERALS]
        texts = [_literal(part) or "" for part in given]
        if command in ("eval", "trap", "coproc") or command in self._shells:
            yield from _of_text_runner(command, given, texts, is_shell=command in self._shells)
        if command in _TEXT_RUNNERS or command in self._shells:
            for part in given:
                self._runs_text(part)
        started = _started(given, texts) if command in self._runners else []
        if started:
            self._runs(started[0])
        if command == "printf" and texts[:1] == ["-v"] and len(given) > 2:
            yield _made_or_not(name.start_point[0], _DIRECTIVE.sub("$x", texts[2]), Way.HELD, texts[1])._replace(is_alone=True)
        if command == "alias":
            for part in given:
                yield from _of_text(part, _COMMAND, command, after="=")
        if command == "bind":
            for part in given:
                yield from _of_text(part, _LAST, command)
        if command in ("complete", "compgen", "mapfile", "readarray"):
            for option, part in zip(texts, given[1:], strict=False):
                if option in _WITH_FUNCTION:
                    yield _spoken(part, part, Way.RUN, command)
        for part in given:
            way = Way.RUN if part in started else Way.ASKED if command in _ASKING else Way.GIVEN
            self._given.update((node.start_point[0], command or "$", variable) for variable in _variables(part))
            yield _spoken(part, part, Way.HELD if command == "set" else way, "@" if command == "set" else command or "$")

    def _of_assignment(self, node: Any) -> Iterator[Spoken]:
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if value is None or target is None:
            return
        name = re.split(rb"\[", target.text)[0].decode("utf-8", "replace")
        self._flows.update((node.start_point[0], name, source) for source in (_variables(value) | _printed(value)) or [""])
        if _PROMPTS.fullmatch(name):
            yield from _of_text(value, _COMMAND, "the prompt")
            yield from _of_text(value, _SUBSTITUTION, "the prompt")
        for part in value.named_children if value.type == "array" else [value]:
            if part.type in _LITERALS:
                yield _spoken(part, part, Way.HELD, name)

    def _of_loop(self, node: Any) -> Iterator[Spoken]:
        variable, *parts = [part for part in node.named_children if part.type in ("variable_name", *_LITERALS)]
        name = variable.text.decode("utf-8", "replace")
        for part in parts:
            self._flows.update((node.start_point[0], name, source) for source in _variables(part) or [""])
            yield _spoken(part, part, Way.HELD, name)


_TEXT_RUNNERS = frozenset({"eval", "trap"})


def _started(given: Sequence[Any], texts: Sequence[str]) -> list[Any]:
    """What a command that runs another may be given as that: the first two words that are no options, numbers or settings."""
    return [part for part, text in zip(given, texts, strict=True) if not re.match(r"-|\d|\w+=", text)][:2]


def _unquoted(text: str) -> str:
    return re.sub(r"[\"'\\]", " ", text).lstrip()


def _variables(node: Any) -> set[str]:
    """Names of what is expanded in a word; `!` too where the value of one names another."""
    found: set[str] = set()
    for part in _EXPANDED.findall(node.text):
        name = part.lstrip(b"${#").decode("utf-8", "replace")
        found.update(["!", name.lstrip("!")] if name.startswith("!") else [name])
    return found


def _printed(node: Any) -> set[str]:
    """What is printed by the commands in the substitutions of a word, as a variable of the name of each: `$(choose)`."""
    return {f"$({found.decode('utf-8', 'replace')})" for found in _SUBSTITUTED.findall(node.text)}


_SUBSTITUTED = re.compile(rb"\$\(\s*([\w.:-]+)")
_DIRECTIVE = re.compile(r"%[-\d.]*[a-z]")
_EXPANDED = re.compile(rb"\$(?:\{[!#]?(?:\w+|[@*])|\w+|[@*])")


def _of_default(node: Any) -> Iterator[Spoken]:
    """`${X:-word}`"""
    variable, *parts = [part for part in node.named_children if part.type in ("variable_name", "special_variable_name", *_LITERALS)] or [
        None
    ]
    if variable is not None and "variable" in variable.type:
        name = variable.text.decode("utf-8", "replace")
        yield from (_spoken(part, part, Way.HELD, name) for part in parts)


def _of_text_runner(command: str, given: Sequence[Any], texts: Sequence[str], *, is_shell: bool) -> Iterator[Spoken]:
    if is_shell:
        flags = [number for number, text in enumerate(texts) if re.fullmatch(r"-\w*c", text)]
        given = given[flags[0] + 1 : flags[0] + 2] if flags else []
    elif command == "trap":
        given = given[:2] if texts[:1] == ["--"] else given[:1]
    for part in given:
        yield from _of_text(part, _COMMAND, command)


def _of_redirection(node: Any, shells: frozenset[str]) -> Iterator[Spoken]:
    """What a shell reads as its text, and what a here-document without expansion keeps for one."""
    body = node.child_by_field_name("body")
    name = body.child_by_field_name("name") if body is not None and body.type == "command" else None
    command = name.text.decode("utf-8", "replace") if name is not None else ""
    variables = _read_into(node)
    for redirect in node.named_children:
        for text in redirect.named_children if redirect.type in ("heredoc_redirect", "herestring_redirect") else ():
            if text.type == "heredoc_body" and command in shells:
                yield from _of_text(text, _COMMAND, command)
            elif variables and text.type in ("heredoc_body", *_LITERALS):
                for number, line in enumerate(text.text.decode("utf-8", "replace").split("\n")):
                    for word in re.sub(r"[\"']", "", line).split():
                        for variable in variables:
                            yield _made_or_not(text.start_point[0] + number, word, Way.HELD, variable)._replace(is_alone=True)


def _read_into(node: Any) -> list[str]:
    """The variables of the first `read` of what gets a text."""
    waiting: list[Any] = [node]
    for _ in range(_MOST_LOOKED_AT):
        if not waiting:
            break
        part = waiting.pop(0)
        name = part.child_by_field_name("name") if part.type == "command" else None
        if name is not None and name.text == b"read":
            texts = [_literal(child) or "" for child in part.children_by_field_name("argument")]
            return [text for text in texts if re.fullmatch(r"[A-Za-z_]\w*", text)]
        waiting.extend(part.named_children)
    return []


_MOST_LOOKED_AT = 200


def _of_text(node: Any, pattern: re.Pattern[str], by: str, after: str = "") -> Iterator[Spoken]:
    """Commands of a text that somebody runs."""
    text = node.text.decode("utf-8", "replace")
    start = text.find(after) + 1 if after else 0
    inner = re.sub(r"[\"'\\]", " ", text[start:])
    for match in pattern.finditer(inner.lstrip() if pattern is _COMMAND else inner):
        line = node.start_point[0] + text[: start + match.start(1)].count("\n")
        yield _made_or_not(line, match[1], Way.RUN, by)


def _spoken(at: Any, node: Any, way: Way, by: str) -> Spoken:
    text = node.text.decode("utf-8", "replace") if node is not None else ""
    if node is not None and node.type == "concatenation" and text.startswith("["):  # `[key]=value`
        text = text.partition("]=")[2] or text
    words = re.sub(r"[\"']", "", text).split()
    return _made_or_not(at.start_point[0], words[0] if words else "", way, by)._replace(is_alone=len(words) == 1)


def _made_or_not(line: int, word: str, way: Way, by: str) -> Spoken:
    parts = _EXPANSION.split(word)
    if len(parts) == 1:
        return Spoken(line, word if _NAME.fullmatch(word) else "", is_made=False, way=way, by=by)
    known = "".join(parts)
    if not _NAME.fullmatch(known) or len(known) < _LEAST_KNOWN:
        return Spoken(line, "", is_made=True, way=way, by=by)
    return Spoken(line, _WORD.join(map(re.escape, parts)), is_made=True, way=way, by=by)


_LEAST_KNOWN = 2
"""Letters of a name that is made; with fewer it may be any."""


def _literal(node: Any) -> str | None:
    """What a word says; None where a part of it is expanded."""
    if node is None or node.type not in ("word", "string", "raw_string", "number", "concatenation"):
        return None
    text = node.text.decode("utf-8", "replace")
    return None if "$" in text or "`" in text else re.sub(r"[\"']", "", text)
