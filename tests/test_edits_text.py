"""Texts and edits in memory: what is not edited keeps every byte, positions are LSP's, and a text is found where it stands."""

from __future__ import annotations

import codecs
import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexer.errors import EditRefused
from indexer.text import Utf16Map, index_to_utf16, utf16_to_index
from query.edits import diff
from query.edits.blocks import blocks
from query.edits.match import find
from query.edits.snippets import plain
from query.edits.text import Document, Edit, Lines, decode

PIECES = st.text(st.sampled_from("ab \t(é€😀\n\r"), max_size=12)
TEXTS = st.lists(PIECES, max_size=8).map("".join)


def edit(start: tuple[int, int], end: tuple[int, int], new_text: str) -> Edit:
    return Edit(start=start, end=end, new_text=new_text)


# ---- bytes


@given(st.binary(max_size=60).filter(lambda content: b"\0" not in content and not content.startswith((b"\xff\xfe", b"\xfe\xff"))))
@example(b"caf\xe9\r\n")
@example(codecs.BOM_UTF8 + b"a")
def test_whatever_has_no_nul_is_text_and_becomes_the_same_bytes_again(content: bytes):
    document = decode(content)
    assert document.content == content
    assert document.edited([]).content == content
    assert len(document.for_server.encode("utf-16-le")) == len(document.text.encode("utf-16-le", "surrogatepass"))


@given(st.text(st.characters(codec="utf-16-le", exclude_characters="\0"), max_size=20), st.sampled_from(["utf-16-le", "utf-16-be"]))
def test_utf_16_with_a_mark_is_text(text: str, encoding: str):
    mark = codecs.BOM_UTF16_LE if encoding == "utf-16-le" else codecs.BOM_UTF16_BE
    document = decode(mark + text.encode(encoding))
    assert (document.text, document.content) == (text, mark + text.encode(encoding))
    assert document.edited([edit((0, 0), (0, 0), "né😀")]).content == mark + ("né😀" + text).encode(encoding)


@pytest.mark.parametrize(
    "content", [b"a\0b", codecs.BOM_UTF8 + b"a\0", b"\xff\xfea", b"\xff\xfe\0\0a\0\0\0", codecs.BOM_UTF16_LE + b"\0\0"]
)
def test_binary_files_are_refused(content: bytes):
    with pytest.raises(EditRefused):
        decode(content)


def test_a_latin_1_file_is_edited_beside_what_is_not_utf_8():
    document = decode(b"# caf\xe9 one\r\nx = 1\r\n")
    assert document.for_server == "# caf\ufffd one\r\nx = 1\r\n"
    assert document.edited([edit((0, 7), (0, 10), "two"), edit((1, 4), (1, 5), "2")]).content == b"# caf\xe9 two\r\nx = 2\r\n"


def test_signs_that_a_latin_1_file_may_not_have_are_refused():
    with pytest.raises(EditRefused, match="not valid UTF-8"):
        decode(b"caf\xe9\n").edited([edit((0, 0), (0, 0), "é")])


def test_a_byte_order_mark_is_not_in_the_text_and_stays_in_the_file():
    document = decode(codecs.BOM_UTF8 + b"import os\n")
    assert document.text == "import os\n"
    assert document.edited([edit((0, 0), (1, 0), "import re\n")]).content == codecs.BOM_UTF8 + b"import re\n"


@pytest.mark.parametrize("new_text", ["\0", "\ud800"])
def test_new_text_that_no_text_file_has_is_refused(new_text: str):
    with pytest.raises(EditRefused):
        decode(b"a\n").edited([edit((0, 0), (0, 0), new_text)])


# ---- positions


@given(TEXTS, st.data())
def test_positions_lead_there_and_back(text: str, data: st.DataObject):
    lines = Lines(text)
    starts = [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]
    assert len(lines) == len(starts)
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n" and offset:
        return  # no position means the middle of a line's end
    line, col = lines.position(offset)
    assert lines.offset(line, col) == offset
    assert starts[line] <= offset
    assert col == index_to_utf16(text[starts[line] :], offset - starts[line])


@given(st.text(st.sampled_from("aé😀"), max_size=20), st.integers(0, 45))
def test_the_map_of_a_whole_text_counts_as_the_functions_for_a_line_do(text: str, number: int):
    whole = Utf16Map(text)
    index = min(number, len(text))
    assert whole.units(index) == index_to_utf16(text, index)
    assert whole.index(whole.units(index)) == index
    if whole.units(min(whole.index(number), len(text))) == number:
        assert whole.index(number) == utf16_to_index(text, number)


def test_columns_are_utf_16_and_past_the_end_of_a_line_mean_its_end():
    text = "a😀b\r\nsecond\rthird"
    lines = Lines(text)
    assert [lines.offset(0, col) for col in (0, 1, 3, 4, 5, 999)] == [0, 1, 2, 3, 3, 3]
    assert lines.offset(1, 999) == text.index("\rthird")
    assert lines.offset(2, 999) == lines.offset(3, 0) == len(text)
    with pytest.raises(EditRefused, match="middle of a character"):
        lines.offset(0, 2)


@pytest.mark.parametrize("place", [(4, 0), (3, 1), (9, 9), (-1, 0), (0, -1)])
def test_places_outside_of_a_text_are_refused(place: tuple[int, int]):
    with pytest.raises(EditRefused):
        Lines("a\nb\nc").offset(*place)


# ---- edits


def reference(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Bottom to top, as the specification says: of several at one place the last first, an insert after the replacement there."""
    order = sorted(range(len(edits)), key=lambda number: (edits[number][0], edits[number][1] != edits[number][0], number), reverse=True)
    for number in order:
        start, end, new = edits[number]
        text = text[:start] + new + text[end:]
    return text


@st.composite
def documents_with_edits(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]]]:
    text = draw(TEXTS)
    places = st.integers(0, len(text)).filter(lambda at: text[at - 1 : at + 1] != "\r\n" if at else True)
    cuts = sorted(draw(st.lists(places, max_size=8)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    new = st.text(st.sampled_from("xyé😀"), max_size=4)
    edits = [(start, end, draw(new)) for start, end in spans]
    edits += [(start, start, draw(new)) for start, end in spans if draw(st.booleans())]
    return text, draw(st.permutations(edits))


@given(documents_with_edits())
@example(("ab", [(1, 1, "x"), (1, 2, "y"), (1, 1, "z")]))
def test_edits_do_what_the_specification_says(case: tuple[str, list[tuple[int, int, str]]]):
    text, edits = case
    document = Document(text=text)
    spans = sorted({(start, end) for start, end, _ in edits if start != end})
    if any(start < previous for (_, previous), (start, _) in pairwise(spans)):
        return
    made = document.edited([edit(document.lines.position(start), document.lines.position(end), new) for start, end, new in edits])
    assert made.text == reference(text, edits)


@pytest.mark.parametrize(
    "edits",
    [
        [edit((0, 0), (0, 3), "x"), edit((0, 2), (0, 4), "y")],
        [edit((0, 1), (0, 2), "x"), edit((0, 1), (0, 2), "y")],
        [edit((0, 0), (0, 4), "x"), edit((0, 2), (0, 2), "y")],
        [edit((0, 3), (0, 1), "x")],
    ],
    ids=["overlap", "twice", "an insert inside", "backwards"],
)
def test_edits_that_contradict_each_other_are_refused(edits: list[Edit]):
    with pytest.raises(EditRefused):
        Document(text="abcdef\n").edited(edits)


@pytest.mark.parametrize(
    ("text", "place", "wanted"),
    [
        ("a\r\nb\r\n", (1, 0), "a\r\n1\r\n2\r\nb\r\n"),
        ("a\nb", (1, 1), "a\nb1\n2\n"),
        ("a\rb", (1, 0), "a\r1\r2\rb"),
        ("a\r\nb\nc", (0, 0), "1\r\n2\r\na\r\nb\nc"),
        ("a\r\nb\nc", (1, 0), "a\r\n1\n2\nb\nc"),
        ("a\r\nb\nc", (2, 0), "a\r\nb\n1\n2\nc"),
        ("abc", (0, 0), "1\r\n2\nabc"),
    ],
    ids=["crlf", "lf, no final newline", "cr", "mixed, first", "mixed, second", "mixed, last", "none"],
)
def test_new_text_takes_the_line_ends_of_its_place(text: str, place: tuple[int, int], wanted: str):
    assert Document(text=text).edited([edit(place, place, "1\r\n2\n")]).text == wanted


def test_many_edits_of_one_endless_line_are_made_at_once():
    """Columns of a minified file are not counted from its start for each edit: that would take hours."""
    text = "😀ab" * 300_000
    edits = [edit((0, 4 * number + 2), (0, 4 * number + 3), "X") for number in range(0, 300_000, 3)]
    made = Document(text=text).edited(edits)
    assert made.text.count("X") == 100_000
    assert made.text.startswith("😀Xb😀ab😀ab😀Xb")


# ---- differences


@given(TEXTS, TEXTS)
def test_the_edits_between_two_texts_lead_from_one_to_the_other(before: str, after: str):
    document = Document(text=before)
    found = diff.edits(document, Document(text=after))
    if len(set(re.findall("\r\n|\r|\n", before + after))) <= 1:
        assert document.edited(found).text == after
    compared = diff.compare("a", before.encode(), "a", after.encode())
    assert (compared.added or compared.removed) == 0 or before != after


@given(st.lists(st.sampled_from("abcdefgh"), max_size=30), st.lists(st.sampled_from("abcdefgh"), max_size=30))
def test_what_is_outside_of_the_blocks_is_alike(old: list[str], new: list[str]):
    at, new_at = 0, 0
    for start, end, new_start, new_end in blocks(old, new):
        assert old[at:start] == new[new_at:new_start]
        assert (start, new_start) >= (at, new_at)
        assert end > start or new_end > new_start
        at, new_at = end, new_end
    assert old[at:] == new[new_at:]


def test_blocks_are_as_small_as_they_read_best():
    old = [f"line {number}" for number in range(20)]
    assert blocks(old, [*old[:3], "x", *old[4:9], *old[10:], "y"]) == [(3, 4, 3, 4), (9, 10, 9, 9), (20, 20, 19, 20)]
    assert blocks(old, [*old[:3], "x", *old[4:9], "y", *old[10:]]) == [(3, 4, 3, 4), (9, 10, 9, 10)]
    moved = blocks(old, [*old[:2], *old[3:10], old[2], *old[10:]])
    assert moved == [(2, 3, 2, 2), (10, 10, 9, 10)]


@pytest.mark.parametrize("kinds", [1, 2, 50])
def test_thousands_of_lines_that_are_alike_are_compared_at_once(kinds: int):
    """Where difflib would take minutes; the diff is right, if not the shortest."""
    old = [f"{number % kinds}\n" for number in range(20_000)]
    new = [line for number, line in enumerate(old) if number % 7] + ["end\n"] * 5
    made = diff.compare("a", "".join(old).encode(), "a", "".join(new).encode())
    assert made.added - made.removed == len(new) - len(old)


def test_a_diff_reads_as_git_writes_it():
    before = b"".join(b"%d\n" % number for number in range(1, 31))
    after = before.replace(b"\n5\n", b"\nfive\n").replace(b"25\n", b"").replace(b"30\n", b"30")
    shown = diff.compare("a/b.py", before, "a/b.py", after)
    assert (shown.added, shown.removed) == (2, 3)
    assert shown.text.split("\n") == [
        "--- a/a/b.py", "+++ b/a/b.py", "@@ -2,7 +2,7 @@", " 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8",
        "@@ -22,9 +22,8 @@", " 22", " 23", " 24", "-25", " 26", " 27", " 28", " 29", "-30", "+30", "\\ No newline at end of file",
    ]  # fmt: skip
    assert diff.compare("n", None, "n", b"x\n").text == "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x"
    assert diff.compare("n", b"\0", "n", b"\0\0").text == "--- a/n\n+++ b/n\nbinary files differ"


# ---- finding


def replaced(text: str, old: str, new: str) -> tuple[str, str]:
    document = Document(text=text)
    found = find(document, old, new, "'f'")
    return document.edited([found.edit]).text, found.how


CODE = "class A:\n    def one(self):\n        if x:\n            return  1\n\n    def two(self):\n        pass\n"


def test_a_text_that_stands_once_is_replaced_as_it_is():
    assert replaced(CODE, "x:\n            return", "y:\n            raise") == (
        CODE.replace("x:", "y:").replace("return", "raise"),
        "exact",
    )


def test_line_ends_of_a_text_need_not_be_those_of_the_file():
    crlf = CODE.replace("\n", "\r\n")
    made = replaced(crlf, "one(self):\n        if x", "three(self):\n        if z")
    assert made == (crlf.replace("one", "three").replace("x:", "z:"), "line_ends")
    made = replaced(CODE, "one(self):\r\n        if x", "three(self):\r\n        if z")
    assert made == (CODE.replace("one", "three").replace("x:", "z:"), "line_ends")


def test_a_text_with_other_indentation_is_found_and_its_replacement_is_shifted():
    old = "def one(self):\n    if x:\n        return 1\n"
    new = "def one(self):\n    for y in z:\n        while y:\n            stop()\n\n    return 2\n"
    made, how = replaced(CODE, old, new)
    assert how == "indentation"
    body = "    def one(self):\n        for y in z:\n            while y:\n                stop()\n\n        return 2\n"
    assert made == "class A:\n" + body + CODE[CODE.index("\n    def two") :]


def test_a_text_that_is_indented_too_much_is_shifted_back():
    assert replaced("if a:\n  b()\n", "        if  a:\n          b()", "        if c:\n          d()\n        e()") == (
        "if c:\n  d()\ne()\n",
        "indentation",
    )


def test_spaces_become_the_tabs_of_the_file():
    text = "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n"
    assert replaced(text, "    if x {\n        y()\n    }", "    if x {\n        z()\n    } else {\n        y()\n    }") == (
        "func f() {\n\tif x {\n\t\tz()\n\t} else {\n\t\ty()\n\t}\n}\n",
        "indentation",
    )


def test_the_last_line_without_its_end_is_replaced_whole():
    assert replaced("a\n  b  = 1", "b = 1\n", "b = 2\n") == ("a\n  b = 2", "indentation")


def test_a_text_that_stands_several_times_is_refused_with_its_lines():
    with pytest.raises(EditRefused, match=r"several times, on lines 1, 3, 4;"):
        replaced("x = 1\ny\nx = 1\nx = 1\n", "x = 1", "z")
    with pytest.raises(EditRefused, match=r"1, 2, .*, 20, …"):
        replaced("x\n" * 100, "x", "z")
    with pytest.raises(EditRefused, match="on lines 1, 3;"):
        replaced("  x  = 1\ny\n  x   = 1\n", "x = 1", "z")
    with pytest.raises(EditRefused, match="on lines 1, 1;"):
        replaced("aaa", "aa", "z")


def test_a_text_that_is_not_there_is_refused_with_where_its_beginning_is():
    with pytest.raises(EditRefused, match="first line is on 2, what follows differs"):
        replaced(CODE, "def one(self):\n    if y:\n", "z")
    for old in ("nowhere", "\n\n\n\n", "   "):
        with pytest.raises(EditRefused, match="is not in 'f'"):
            replaced("a\nb\n", old, "z")


def test_lines_that_are_indented_otherwise_among_themselves_are_another_text():
    """In Python they mean something else."""
    with pytest.raises(EditRefused, match="lines 3 read alike"):
        replaced(CODE, "if x:\nreturn 1", "z")


@given(st.lists(st.sampled_from(["if a:", "  b = 1", "\tc()", "", "d  e", "    f"]), min_size=1, max_size=8), st.data())
def test_a_match_replaces_its_lines_and_nothing_else(lines: list[str], data: st.DataObject):
    text = "\n".join(lines)
    start = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(start + 1, len(lines)))
    old = "\n".join(" ".join(line.split()) for line in lines[start:end])
    try:
        made, _ = replaced(text, old, "NEW") if old else (text, "")
    except EditRefused:
        return
    if old:
        head, tail = made.split("NEW")
        assert text.startswith(head.rstrip(" \t"))  # what is new is indented as its line was
        assert text.endswith(tail)


# ---- snippets


@pytest.mark.parametrize(
    ("snippet", "wanted"),
    [
        ("fn ${1:name}($2) {\n\t$0\n}", "fn name() {\n\t\n}"),
        (r"a \$b \} \\ }", r"a $b } \ }"),
        ("${1:a ${2:b} c} ${3|one,two|} $TM_FILENAME${TM_X:y}", "a b c one y"),
        ("${1/(.*)/${1:/upcase}/}x", "x"),
        ("plain { } text", "plain { } text"),
    ],
)
def test_a_snippet_without_anybody_to_fill_it_in(snippet: str, wanted: str):
    assert plain(snippet) == wanted
