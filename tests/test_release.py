"""What .github holds for a project that others work on, and the steps of a release, as far as they can be run here."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from ci_support import BIN, ROOT, actionlint, ends_well, load, scripts
from support import write_tree

from ci import release

PAGE = ROOT / ".github"
WORKFLOWS = sorted((PAGE / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (PAGE / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
PROJECT = 'name = "x"\nversion = "1.2.3"\n'


def test_the_workflows_hold_for_actionlint():
    assert [path.stem for path in WORKFLOWS] == ["check", "release"]
    actionlint(*WORKFLOWS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-issue-forms", FORMS),
        ("github-issue-config", [PAGE / "ISSUE_TEMPLATE" / "config.yml"]),
    ],
)
def test_each_file_holds_for_its_schema(schema: str, files: list[Path]):
    assert files
    ends_well(BIN / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *files)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_asks_for_little_and_runs_only_what_is_pinned(path: Path):
    workflow = load(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets" not in path.read_text(encoding="utf-8")
    assert not [text for text in scripts(workflow) if "${{" in text]
    for name, job in workflow["jobs"].items():
        assert name == "publish" or "permissions" not in job
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert [each for each in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", each)] == []
        assert [step for step in job["steps"] if "checkout" in step.get("uses", "") and step["with"]["persist-credentials"]] == []
    installed = [line for text in scripts(workflow) for line in text.splitlines() if "pip install" in line]
    assert [line for line in installed if not re.search(r"==|dist/\*\.whl", line)] == []


def test_what_is_published_was_tried_and_is_built_once():
    jobs = load(PAGE / "workflows" / "release.yml")["jobs"]
    assert (jobs["try"]["needs"], jobs["publish"]["needs"]) == ("build", "try")
    assert [name for name, job in jobs.items() if any("-m build" in text for text in scripts(job))] == ["build"]
    assert len(jobs["try"]["strategy"]["matrix"]["python"]) >= 3


@pytest.mark.parametrize(
    ("tag", "heading", "said"),
    [
        ("v1.2.3", "1.2.3 (2027-01-01)", []),
        ("v1.2.4", "1.2.3", ["the tag is v1.2.4, and pyproject.toml has 1.2.3"]),
        ("v1.2.3", "1.2.2", ["the changelog begins with 1.2.2, not with 1.2.3"]),
        ("v1.2.3", "1.2.3 (not yet released)", ["the changelog says that 1.2.3 is not yet released"]),
    ],
)
def test_a_tag_that_does_not_fit_is_no_release(tmp_path: Path, tag: str, heading: str, said: list[str]):
    root = write_tree(tmp_path, {"pyproject.toml": f"[project]\n{PROJECT}", ".github/CHANGELOG.md": f"# Changes\n\n## {heading}\n"})
    assert release.check(tag, root) == said


def test_the_changelog_begins_with_the_version_of_today():
    assert [each for each in release.check("v0.1.0") if "not yet released" not in each] == []


@pytest.mark.slow
def test_a_command_that_answers_passes():
    assert release.attempt(str(BIN / "lspidx")) == []


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "index ends with 3"),
        ('[ "$1" = index ] || { echo broken >&2; exit 4; }', "query ends with 4: broken"),
        ('[ "$1" = index ] || echo \'{"total": 0, "completeness": {"status": "complete"}}\'', "callers are (0, 'complete')"),
    ],
)
def test_a_command_that_does_not_is_told(tmp_path: Path, script: str, said: str):
    program = tmp_path / "lspidx"
    program.write_text(f"#!{shutil.which('sh')}\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    (found,) = release.attempt(str(program))
    assert said in found
