"""The report's formats hold whatever a repository is called, and the commands `report` and `graph` keep what they promise."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from query_support import lspidx, plain_environment
from report_support import HOSTILE, hostile_report, lost, made_review, symbol
from support import check_golden, crawl_with_ty, write_tree
from toolchains import requires

from indexer.errors import UsageError
from query.answers.style import Style, one_line
from query.changes.review import AffectedTest
from query.changes.rules import RAISING, RULES
from query.reports import github, gitlab, junit, markdown, mermaid, page, sarif, terminal
from query.reports.baseline import Accepted, read, render
from query.reports.commands import commands
from query.reports.graphs import Edge, Graph, Node, of_findings, place
from query.reports.model import Report, fingerprint, report
from query.reports.svg import svg
from query.reports.treemap import treemap

pytest_plugins = ["query_fixtures"]

HERE = Path(__file__).parent


@pytest.fixture
def hostile(tmp_path: Path) -> Report:
    return hostile_report(tmp_path)


# ---- the model


def test_a_fingerprint_stays_when_lines_shift_and_changes_with_the_rule():
    before = symbol(1, "f")
    shifted = msgspec.structs.replace(before, line=400, end_line=410, lines=(7, 9), says=["other words"])
    assert fingerprint(before, "callers_not_updated") == fingerprint(shifted, "callers_not_updated")
    assert fingerprint(before, "callers_not_updated") != fingerprint(before, "removed_in_use")
    assert fingerprint(before, "x") != fingerprint(msgspec.structs.replace(before, qualified_name="pkg.g"), "x")


def test_findings_are_what_is_above_info_and_the_first_three_are_to_be_read(hostile: Report):
    assert [item.rank for item in hostile.findings] == list(range(1, len(HOSTILE) + 2))
    assert [item.read_first for item in hostile.findings] == [True] * 3 + [False] * (len(HOSTILE) - 2)
    assert [item.name for item in hostile.below] == ["docs"]
    assert len({item.fingerprint for item in hostile.findings}) == len(hostile.findings)


def test_the_rule_of_a_finding_is_its_worst_reason_not_its_first(tmp_path: Path):
    one = symbol(1, "f", reasons=["compatible", "several_packages", "no_test_reaches"], says=["a", "b", "c"])
    assert report(made_review([one]), tmp_path).findings[0].rule == "several_packages"


def test_an_accepted_finding_needs_a_reason_and_is_not_read_first(tmp_path: Path):
    plain = hostile_report(tmp_path)
    first, second = plain.findings[0], plain.findings[1]
    entries = [
        Accepted(fingerprint=first.fingerprint, rule=first.rule, symbol="x", reason="known, see the plan"),
        Accepted(fingerprint=second.fingerprint, rule=second.rule, symbol="y", reason="  "),
        Accepted(fingerprint="0" * 32, rule="removed_in_use", symbol="pkg.long_gone", reason="was so"),
    ]
    made = hostile_report(tmp_path, entries)
    assert (made.accepted, made.unexplained) == (1, 1)
    assert [item.read_first for item in made.findings[:5]] == [False, True, True, True, False]
    assert [entry.symbol for entry in made.stale_baseline] == ["pkg.long_gone"]
    assert made.reaches("critical") == plain.reaches("critical") - 1 == 2
    said = terminal.render(made, Style(color=False))
    assert "accepted: known, see the plan" in said
    assert "1 finding listed without a reason" in said
    assert "1 entry fits no finding any more: pkg.long_gone" in said


def test_a_baseline_is_sorted_keeps_reasons_and_drops_what_is_gone(hostile: Report, tmp_path: Path):
    kept = hostile.findings[3]
    earlier = [
        Accepted(fingerprint=kept.fingerprint, rule=kept.rule, symbol="old words", reason="agreed"),
        Accepted(fingerprint="f" * 32, rule="x", symbol="gone", reason="y"),
    ]
    written = render(hostile.findings, earlier)
    path = tmp_path / "baseline.json"
    path.write_text(written, encoding="utf-8")
    entries = read(path)
    assert entries == sorted(entries, key=lambda entry: (entry.symbol, entry.rule, entry.fingerprint))
    assert {entry.fingerprint: entry.reason for entry in entries if entry.reason} == {kept.fingerprint: "agreed"}
    assert len(entries) == len(hostile.findings)
    assert render(reversed(hostile.findings), entries) == written


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"version": 2, "accepted": []}', b'{"version": 1, "accepted": [{"rule": "x"}]}', b"\xff\xfe", b"[" * 99_999]
)
def test_a_baseline_that_is_none_is_a_usage_error(content: bytes, tmp_path: Path):
    path = tmp_path / "baseline.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"(is not a baseline|has version 2)"):
        read(path)


# ---- command lines of test runners


def affected(path: str, name: str, runner: Any) -> AffectedTest:
    selector = f"{path}::{name}" if runner == "pytest" else path if runner == "file" else name
    return AffectedTest(selector=selector, path=path, line=1, name=name, distance=1, via="x", runner=runner)


def test_each_runner_gets_the_words_it_takes(tmp_path: Path):
    write_tree(tmp_path, {"web/package.json": "{}", "tools/go.mod": "module tools\n", "Cargo.toml": "", "go.mod": "module here\n"})
    tests = [
        affected("tests/test_a.py", "TestX::test_y", "pytest"),
        affected("tests/it's.py", "test_z", "pytest"),
        affected("pkg/a_test.go", "TestA", "go"),
        affected("pkg/b_test.go", "TestB", "go"),
        affected("pkg/b_test.go", "BenchmarkB", "go"),
        affected("tools/gen/c_test.go", "TestA", "go"),
        affected("main_test.go", "TestMain", "go"),
        affected("src/lib.rs", "adds", "cargo"),
        affected("web/src/a.test.ts", "", "file"),
        affected("cpp/test.cpp", "", "file"),
    ]
    assert [(item.runner, shlex.split(item.line), item.tests) for item in commands(tests, tmp_path)] == [
        ("pytest", ["pytest", "tests/test_a.py::TestX::test_y", "tests/it's.py::test_z"], 2),
        ("go", ["go", "test", "-run", "^(TestMain)$", "."], 1),
        ("go", ["go", "test", "-run", "^(TestA|TestB)$", "./pkg"], 2),
        ("go", ["go", "test", "-C", "tools", "-run", "^(TestA)$", "./gen"], 1),
        ("cargo", ["cargo", "test", "--lib", "--", "--exact", "adds"], 1),
        ("vitest", ["npx", "vitest", "run", "--root", "web", "src/a.test.ts"], 1),
    ]


def test_tests_of_one_suite_are_run_by_one_command_unless_all_of_it_is(tmp_path: Path):
    names = ["TestS/TestA", "TestB", "TestS/TestC", "TestT/TestA", "TestT"]
    assert [(shlex.split(item.line), item.tests) for item in commands([affected("a_test.go", name, "go") for name in names], tmp_path)] == [
        (["go", "test", "-run", "^(TestB|TestT)$", "."], 2),
        (["go", "test", "-run", "^TestS$/^(TestA|TestC)$", "."], 2),
    ]


def test_tests_that_are_run_as_several_are_named_by_their_beginning(tmp_path: Path):
    one, several = affected("tests/it.rs", "adds", "cargo"), affected("tests/it.rs", "cases", "cargo")
    several.cases = True
    assert [shlex.split(item.line)[2:] for item in commands([one, several], tmp_path)] == [
        ["--test", "it", "--", "--exact", "adds"],
        ["--test", "it", "--", "cases"],
    ]


def test_no_name_is_taken_for_an_option_or_a_second_command(tmp_path: Path):
    tests = [affected("-p evil.py", "test_x", "pytest"), *(affected(f"{name}.py", "test_x", "pytest") for name in HOSTILE)]
    (made,) = commands(tests, tmp_path)
    words = shlex.split(made.line)
    assert len(words) == len(tests) + 1
    assert not [word for word in words[1:] if word.startswith(("-", ":", "@"))]
    assert commands([affected("a.rs", "--x", "cargo"), affected("a_test.go", "TestX)$(id)", "go")], tmp_path) == []


def test_a_command_line_that_no_shell_takes_names_files_instead(tmp_path: Path):
    tests = [affected(f"tests/test_{number % 3}.py", f"test_{number}", "pytest") for number in range(500)]
    (made,) = commands(tests, tmp_path, most_chars=5_000)
    assert made.line == "pytest tests/test_0.py tests/test_1.py tests/test_2.py"
    assert made.tests == 500


# ---- terminal and annotations


def test_no_line_for_a_log_begins_with_a_name_or_holds_control_characters(hostile: Report):
    for text in (terminal.render(hostile, Style(color=False)), github.render(hostile)):
        for line in text.splitlines():
            assert "\x1b" not in line
            assert "\x07" not in line
            assert not line.lstrip().startswith("::") or re.match(r"::(error|warning|notice) (file=|title=)", line), line


def test_annotations_are_ranked_bounded_and_decode_to_what_was_meant(tmp_path: Path):
    many = [symbol(number, f"f{number}") for number in range(25)]
    lines = github.render(report(made_review([symbol(99, HOSTILE[6], level="critical"), *many]), tmp_path)).splitlines()
    assert [line.partition(" ")[0] for line in lines[:-1]] == ["::error"] * 10
    assert "26 changed symbols" in lines[-1]
    match = re.match(r"::error file=([^,]*),line=(\d+),title=([^:,]*)::(.*)\Z", lines[0])
    assert match, lines[0]
    decoded = [unquote(part) for part in match.groups()]
    assert decoded[0] == f"src/{HOSTILE[6]}.py"
    assert decoded[1] == "109"
    assert decoded[3].startswith(f"pkg.{HOSTILE[6]}: its declaration differs")
    assert "\nnot updated: src/" in decoded[3]


def test_what_is_gone_is_annotated_without_a_line(hostile: Report):
    line = next(line for line in github.render(hostile).splitlines() if "removed gone" in line)
    assert ",line=" not in line


# ---- Markdown

_TAGS = {
    "p", "h2", "h3", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "details", "summary", "sub", "blockquote", "br", "strong",
}  # fmt: skip


class Tags(HTMLParser):
    """Elements of a piece of HTML, and the text outside code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.prose = ""
        self.code: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("br", "meta", "wbr", "input"):
            self.open.append(tag)
        if tag == "code":
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "code" in self.open:
            self.code[-1] += data
        else:
            self.prose += data


def rendered(text: str) -> Tags:
    return Tags(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text))


@pytest.mark.parametrize("most_bytes", [3_000, 8_000, 20_000, markdown.COMMENT_BYTES])
def test_a_comment_is_valid_and_exact_however_much_is_cut(hostile: Report, most_bytes: int):
    text = markdown.render(hostile, most_bytes=most_bytes)
    assert len(text.encode()) <= most_bytes
    assert text.startswith(markdown.MARKER)
    assert text.count("<details>") == text.count("</details>")
    assert len(re.findall(r"^`{3,}", text, re.MULTILINE)) % 2 == 0
    tags = rendered(text)
    assert {tag for tag, _ in tags.found} <= _TAGS
    assert tags.open == []
    for words in ("**3** critical, **3** high, **3** medium, **3** unknown, **4** low", "30 uses not updated", "15 tests reach the change"):
        assert words in text, words


def test_names_in_a_comment_stand_in_code_only(hostile: Report):
    tags = rendered(markdown.render(hostile))
    assert not {"a", "img", "script", "b", "em", "del", "s"} & {tag for tag, _ in tags.found}
    for sign in ("@everyone", "javascript:", "evil.example", "#1", "GH-2", "onerror", "heading", "touch owned"):
        assert sign not in tags.prose, sign
    for name in HOSTILE:
        assert {f"pkg.{one_line(name)}", f"tests/{one_line(name)}.py::test_x"} <= set(tags.code), name
    rows = [line for line in markdown.render(hostile).splitlines() if line.startswith("| ") and "signature function" in line]
    assert len(rows) == len(HOSTILE)
    cells = [tag for tag, _ in tags.found if tag == "td"]
    # 4 columns of findings, 3 of uses, 3 of tests: no name has made a cell of its own
    assert len(cells) == 4 * (len(HOSTILE) + 1) + 3 * 2 * len(HOSTILE) + 3 * len(HOSTILE)


def test_a_comment_says_first_what_may_be_missing(hostile: Report):
    text = markdown.render(hostile)
    assert 0 < text.index("[!WARNING]") < text.index("| level |")


def test_a_small_comment_reads_like_the_golden_one(tmp_path: Path):
    one = symbol(1, "area", file="geo/shape.py", stale_sites=1, says=["its declaration differs, and 1 use is not touched by this change"])
    one = msgspec.structs.replace(one, reasons=["callers_not_updated"], affected=one.affected[:1])
    tests = [affected("tests/test_shape.py", "test_area", "pytest")]
    review = msgspec.structs.replace(made_review([one], tests), compared="main...HEAD")
    made = report(review, tmp_path)
    check_golden("reports/comment.md", markdown.render(made))
    check_golden("reports/terminal.txt", terminal.render(made, Style(color=False)))
    check_golden("reports/annotations.txt", github.render(made))
    check_golden("reports/codequality.json", gitlab.render(made))
    check_golden("reports/junit.xml", junit.render(made))
    check_golden("reports/graph.mmd", mermaid.mermaid(of_findings(made.findings)))


# ---- SARIF, GitLab, JUnit


@pytest.fixture(scope="session")
def sarif_schema() -> dict[str, Any]:
    """The official schema (errata 01), as the module go-sarif ships it; go is what the tests crawl with as well."""
    requires("go")
    done = subprocess.run(
        ["go", "mod", "download", "-json", "github.com/owenrumney/go-sarif/v3@v3.3.1"], capture_output=True, encoding="utf-8", check=True
    )
    source = (Path(json.loads(done.stdout)["Dir"]) / "pkg/report/v210/sarif/schema.go").read_text(encoding="utf-8")
    schema = json.loads(source.partition("`")[2].rpartition("`")[0])
    assert schema["id"] == sarif.SCHEMA
    return schema


def test_sarif_is_valid_against_its_schema(hostile: Report, sarif_schema: dict[str, Any], tmp_path: Path):
    validator = jsonschema.validators.validator_for(sarif_schema)(sarif_schema)
    assert list(validator.iter_errors({"version": "2.1.0"})), "the schema refuses nothing"
    first = hostile.findings[0]
    accepted = [Accepted(fingerprint=first.fingerprint, rule=first.rule, symbol="x", reason=HOSTILE[4])]
    for made in (hostile, hostile_report(tmp_path, accepted), report(made_review([]), tmp_path)):
        assert [error.message for error in validator.iter_errors(json.loads(sarif.render(made)))] == []


def test_sarif_results_lead_to_the_interfaces_that_are_lost_and_to_who_needs_them(tmp_path: Path):
    item = symbol(1, "f", stale_sites=0, interfaces=[lost("I"), lost("Far", external=True)])
    [result] = json.loads(sarif.render(report(made_review([item]), tmp_path)))["runs"][0]["results"]
    related = [
        (place["physicalLocation"]["artifactLocation"]["uri"], place["physicalLocation"]["region"]["startLine"], place["message"]["text"])
        for place in result["relatedLocations"]
    ]
    assert related == [
        ("src/I.py", 7, "pkg.I, which pkg.TI no longer satisfies"),
        ("src/I/use.py", 3, "used as pkg.I, in pkg.I.use"),
        ("src/Far/use.py", 3, "used as pkg.Far, in pkg.Far.use"),
    ]


def test_sarif_results_lead_to_rules_places_and_callers(hostile: Report):
    (run,) = json.loads(sarif.render(hostile))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in (*RULES, *RAISING)] + ["coverage_partial"]
    assert len(run["results"]) == len(hostile.findings)
    for finding, result in zip(hostile.findings, run["results"], strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.rule
        assert unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) == finding.symbol.file
        assert result["partialFingerprints"] == {"lspidxFinding/v1": finding.fingerprint}
        assert len(result.get("relatedLocations", [])) == finding.symbol.stale_sites + 2 * len(finding.symbol.interfaces)
    assert "region" not in run["results"][-1]["locations"][0]["physicalLocation"]  # it is gone
    assert run["invocations"][0]["toolExecutionNotifications"][0]["descriptor"] == {"id": "stale"}


def test_sarif_stays_below_the_limits_and_says_so(tmp_path: Path):
    sites = symbol(0, "f").affected * 200
    many = [symbol(number, f"f{number}", affected=sites if number == 0 else [], stale_sites=400) for number in range(5_100)]
    (run,) = json.loads(sarif.render(report(made_review(many), tmp_path)))["runs"]
    assert len(run["results"]) == 5_000
    assert len(run["results"][0]["relatedLocations"]) + 1 == 100
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "5100 findings, of which the first 5000 are results"


def test_gitlab_gets_the_fields_that_it_reads(hostile: Report):
    rows = json.loads(gitlab.render(hostile))
    assert len(rows) == len(hostile.findings)
    for row in rows:
        assert set(row) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert row["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert row["location"]["lines"]["begin"] >= 1
        assert "\n" not in row["description"]
    assert len({row["fingerprint"] for row in rows}) == len(rows)


def test_junit_fails_what_reaches_the_level_and_skips_what_is_accepted(tmp_path: Path):
    first = hostile_report(tmp_path).findings[0]
    made = hostile_report(tmp_path, [Accepted(fingerprint=first.fingerprint, rule="x", symbol="x", reason="so it is")])
    suite = ElementTree.fromstring(junit.render(made, fail_on="high")).find("testsuite")
    assert suite is not None
    assert len(suite.findall("testcase/failure")) == int(suite.attrib["failures"]) == 5
    assert len(suite.findall("testcase/skipped")) == int(suite.attrib["skipped"]) == 1
    assert len(suite.findall("testcase")) == int(suite.attrib["tests"]) == len(made.findings)


# ---- pictures


def test_a_mermaid_label_holds_nothing_that_mermaid_reads(hostile: Report):
    text = mermaid.mermaid(of_findings(hostile.findings))
    for line in text.splitlines()[1:]:
        assert re.match(r'  (n\d+\["[\w .+…#;-]*"\](:::\w+)?|n\d+ (-->|-\. not updated \.->) n\d+|classDef .*|%% \d+ more .*)\Z', line), (
            line
        )
    assert text.count("not updated") == 2 * len(HOSTILE)


def test_a_picture_has_at_most_sixty_edges_and_counts_the_rest(tmp_path: Path):
    def site(number: int, caller: int) -> Any:
        return msgspec.structs.replace(symbol(number, "f").affected[0], symbol=f"caller {number} {caller}", caller=f"pkg.c{caller}")

    many = [symbol(n, f"f{n}", affected=[site(n, caller) for caller in range(20)], callers=20) for n in range(30)]
    graph = of_findings(report(made_review(many), tmp_path).findings)
    assert len(graph.edges) <= 60
    assert sum(edge.sites if " more" in edge.source else 1 for edge in graph.edges) + graph.left_out >= 30 * 20
    assert graph.nodes[0].label == "pkg.f0" or graph.nodes[0].what == "more"


def test_dot_and_svg_hold_hostile_names_as_text(hostile: Report):
    graph = of_findings(hostile.findings)
    root = ElementTree.fromstring(svg(graph, HOSTILE[4]))
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == {"svg", "title", "style", "g", "rect", "text", "path"}
    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[0] == HOSTILE[4]
    assert any(title and title.startswith(f"pkg.{HOSTILE[0]} ") for title in titles)
    for line in mermaid.dot(graph).splitlines():
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0, line


names_of = st.integers(0, 11)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(names_of, names_of), max_size=30))
def test_a_layout_leads_edges_rightwards_and_lays_no_node_on_another(pairs: list[tuple[int, int]]):
    keys = sorted({key for pair in pairs for key in pair})
    graph = Graph(
        [Node(str(key), f"name{key}", "", "caller") for key in keys],
        [Edge(str(left), str(right)) for left, right in dict.fromkeys(pairs)],
    )
    placed = place(graph)
    assert set(placed.nodes) >= {str(key) for key in keys}
    boxes = [placed.nodes[str(key)] for key in keys]
    assert all(abs(x - u) > 20 or abs(y - v) > 30 for at, (x, y) in enumerate(boxes) for u, v in boxes[:at])
    assert all(0 < x < placed.width and 0 < y < placed.height for x, y in boxes)
    backwards = sum(placed.nodes[left][0] > placed.nodes[right][0] for left, right in ((e.source, e.target) for e in graph.edges))
    if all(left < right for left, right in pairs):  # no cycle
        assert backwards == 0
    ElementTree.fromstring(svg(graph, "x"))


def test_boxes_of_the_treemap_fill_it_by_size(tmp_path: Path):
    many = [symbol(number, f"f{number}", file=f"src/{number % 70}.py", lines=(0, 1 + number % 40)) for number in range(400)]
    many += [symbol(500, "t", is_test=True), symbol(501, "m", lines=(0, 0))]
    files = treemap(many)
    assert len(files) == 61
    assert sum(file.lines for file in files) == sum(sum(item.lines) for item in many[:400])
    assert sum(file.box.width * file.box.height for file in files) == pytest.approx(10_000, rel=0.01)
    for file in files:
        assert file.box.width * file.box.height == pytest.approx(file.lines / sum(f.lines for f in files) * 10_000, rel=0.05, abs=2)
        if file.path:
            assert sum(tile.lines for tile in file.tiles) == file.lines
            assert sum(tile.number for tile in file.tiles) == file.number
            assert all(-0.1 <= tile.box.x <= tile.box.x + tile.box.width <= 100.1 for tile in file.tiles)


# ---- the page


def test_a_page_allows_only_its_own_script_and_style_and_holds_no_foreign_markup(hostile: Report):
    text = page.render(hostile)
    found = Tags(text).found
    (policy,) = [attributes["content"] for tag, attributes in found if attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert not {"connect-src", "img-src", "frame-src"} & set(rules)
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        content = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(content) == 1
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()}'"
    assert [attributes for tag, attributes in found if tag == "script"] == [{"type": "application/json", "id": "data"}, {}]
    assert not [
        tag for tag, attributes in found if tag in ("img", "link", "iframe", "object") or any(n.startswith("on") for n in attributes)
    ]
    assert not [attributes for _, attributes in found if "style" in attributes or "src" in attributes]
    data = json.loads(re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)[0])
    assert [item["name"] for item in data["findings"][: len(HOSTILE)]] == [one_line(f"pkg.{name}") for name in HOSTILE]


def test_the_script_of_a_page_shows_text_filters_and_opens(hostile: Report, tmp_path: Path):
    """In jsdom, which has no layout; `make page-check` does the same and more in Chromium."""
    modules = tmp_path / "modules"
    requires("npm")
    npm = shutil.which("npm")
    assert npm
    subprocess.run(
        [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(modules), "jsdom@26.1.0"], check=True
    )
    shutil.copy(HERE / "page_dom.cjs", modules)
    (tmp_path / "page.html").write_text(page.render(hostile), encoding="utf-8")
    done = subprocess.run(
        ["node", str(modules / "page_dom.cjs"), str(tmp_path / "page.html")], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["errors"] == []
    assert seen["names"][: len(HOSTILE)] == [one_line(f"pkg.{name}") for name in HOSTILE]
    assert seen["foreign"] == 0
    assert seen["cards"] == 3
    assert seen["found"] == [one_line(f"pkg.{HOSTILE[2]}")]
    assert seen["without_critical"] == len(HOSTILE) + 1 - 3
    assert seen["cleared"] == len(HOSTILE) + 1
    assert seen["opened"] == one_line(f"pkg.{HOSTILE[2]}")
    assert "not updated" in seen["evidence"]
    assert seen["tiles"] >= len(HOSTILE)
    assert seen["moved"] is True
    assert shlex.split(seen["command"])[0] == "pytest"


# ---- the commands, on a real repository

OLD = {
    "shop/__init__.py": "",
    "shop/price.py": "def gross(net):\n    return net * 2\n\n\ndef gone():\n    return 1\n\n\ndef quiet():\n    return 1\n",
    "shop/till.py": "from shop import price\n\n\ndef pay():\n    return price.gross(1) + price.gone()\n",
    "tests/test_till.py": ("from shop.till import pay\n\n\ndef test_pay():\n    assert pay\n\n\ndef test_other():\n    assert True\n"),
}
NEW = {"shop/price.py": "def gross(net, rate):\n    return net * rate\n\n\ndef quiet():\n    return 1  # still\n"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two commits: a declaration that differs, a function that is gone, both still used. The second is indexed."""
    root = write_tree(tmp_path_factory.mktemp("change") / "shop", OLD)

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@x", *words], cwd=root, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (root / ".git" / "info" / "exclude").write_text(".lspidx/\n", encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "old")
    write_tree(root, NEW)
    git("commit", "-qam", "new")
    crawl_with_ty(root, jobs=1)
    return root


def run_report(repository: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return lspidx("report", *words, cwd=repository, env=env)


@pytest.mark.slow
def test_one_run_writes_every_format_and_the_gate_counts_what_is_not_accepted(repository: Path, tmp_path: Path):
    written = {kind: tmp_path / f"report.{kind}" for kind in ("json", "markdown", "sarif", "github", "gitlab", "junit", "html", "text")}
    outputs = [word for kind, path in written.items() for word in ("--output", f"{kind}={path}")]
    done = run_report(repository, "--range", "HEAD", *outputs, "--fail-on", "high")
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "at high or worse" in done.stderr
    made = json.loads(written["json"].read_text(encoding="utf-8"))
    assert {(item["symbol"]["name"], item["symbol"]["what"]) for item in made["findings"]} == {("gross", "signature"), ("gone", "removed")}
    assert made["findings"][0]["level"] == "critical"
    assert all(path.stat().st_size > 100 for path in written.values())
    assert "\x1b" not in written["text"].read_text(encoding="utf-8")

    baseline = tmp_path / "baseline.json"
    assert run_report(repository, "--range", "HEAD", "--write-baseline", str(baseline)).returncode == 0
    assert run_report(repository, "--range", "HEAD", "--baseline", str(baseline), "--fail-on", "high").returncode == 1
    content = json.loads(baseline.read_text(encoding="utf-8"))
    for entry in content["accepted"]:
        entry["reason"] = "agreed"
    content["accepted"].append({"fingerprint": "0" * 32, "rule": "x", "symbol": "shop.never", "reason": "y"})
    baseline.write_text(json.dumps(content), encoding="utf-8")
    done = run_report(repository, "--range", "HEAD", "--baseline", str(baseline), "--fail-on", "low")
    assert done.returncode == 0, done.stdout
    assert "shop.never" in done.stdout


@pytest.mark.slow
def test_stdout_holds_one_format_and_the_job_summary_is_appended(repository: Path, tmp_path: Path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="ascii")
    done = run_report(repository, "--range", "HEAD", "--format", "github", env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("::")
    assert summary.read_text(encoding="utf-8").startswith(f"before\n{markdown.MARKER}")
    few = json.loads(run_report(repository, "--range", "HEAD", "--format", "json", "--max-findings", "1").stdout)
    assert len(few["findings"]) == 1
    assert few["totals"]["by_level"]["critical"] == 1


@pytest.mark.slow
def test_the_affected_tests_run_as_they_are_printed(repository: Path):
    done = run_report(repository, "--range", "HEAD", "--tests-only")
    assert done.stdout == "tests/test_till.py::test_pay\n", done.stderr
    for limit in ("likely", "1", "9"):
        limited = run_report(repository, "--range", "HEAD", "--tests-only", "--tests-limit", limit)
        assert (limited.stdout, "of 1 tests" in limited.stderr) == (done.stdout, False)
    (line,) = run_report(repository, "--range", "HEAD", "--tests-only=command").stdout.splitlines()
    assert line == "pytest tests/test_till.py::test_pay"
    ran = subprocess.run(
        [sys.executable, "-m", *shlex.split(line), "-q", "-p", "no:cacheprovider", "--rootdir", "."],
        cwd=repository, env=plain_environment(repository, {"PYTHONPATH": "."}), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--base", "nowhere"], "nowhere"),
        (["--base", "main", "--scope", "staged"], "--base cannot be combined"),
        (["--range", "HEAD", "--scope", "staged"], "--range belongs to"),
        (["--range", "HEAD", "-o", "a", "-o", "b"], "several files for one format"),
        (["--range", "HEAD", "-o", "json=-", "--format", "text"], "one format only"),
        (["--range", "HEAD", "--baseline", "no/such/file"], "cannot be read"),
        (["--range", "HEAD", "-o", "no/such/folder/file"], "cannot be written"),
        (["--range", "HEAD", "--tests-only", "--fail-on", "low"], "--tests-only prints the tests"),
        (["--range", "HEAD", "--tests-limit", "likely"], "--tests-limit belongs to --tests-only"),
        (["--range", "HEAD", "--tests-only", "--tests-limit", "0"], "neither 'likely' nor a number"),
    ],
)
def test_a_report_that_cannot_be_asked_for_so_is_a_usage_error(repository: Path, words: list[str], expected: str):
    done = run_report(repository, *words)
    assert done.returncode == 2, done.stdout
    assert expected in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_a_graph_is_drawn_in_every_form_bounded_and_labelled(shop_root: Path, tmp_path: Path):
    def drawn(*words: str) -> str:
        done = lspidx("graph", "shop.service.run", *words, cwd=shop_root)
        assert done.returncode == 0, done.stderr
        return done.stdout

    text = drawn("--depth", "3")
    assert '["service.run"]:::start' in text
    assert '["service.outer"]' in text
    assert '["native.fast"]' in text
    assert "test_run" not in text
    assert "test_service.test_run" in drawn("--tests", "include")
    assert "native.fast" not in drawn("--direction", "incoming")
    assert drawn("--format", "dot").startswith("digraph")
    assert ElementTree.fromstring(drawn("--format", "svg")).tag.endswith("svg")
    path = tmp_path / "graph.html"
    assert drawn("--format", "html", "-o", str(path)) == ""
    html = path.read_text(encoding="utf-8")
    assert "script-src 'none'" in html
    assert "shop.service.outer" in drawn("--format", "html", "--depth", "3")
    assert len(re.findall(r"-->", drawn("--depth", "3", "--limit", "1"))) == 1
    assert lspidx("graph", "no.such.name", cwd=shop_root).returncode == 3
