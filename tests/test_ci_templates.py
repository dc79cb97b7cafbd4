"""The templates of ci/: linted by the tools made for it, and their scripts run in order on a real repository with a base and a head."""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from ci_support import (
    BIN,
    CI,
    ROOT,
    TOKEN,
    FakeGitHub,
    Runner,
    StepFailed,
    Storage,
    actionlint,
    comment,
    ends_well,
    environment,
    git,
    home_of,
    load,
    pull,
    scripts,
    without_install,
    zip_of,
)
from commands import LOADED
from support import write_tree
from toolchains import PYPI, requires

GITHUB = CI / "github"
WORKFLOWS = sorted(GITHUB.glob("*-*.yml"))
ACTION = GITHUB / "action.yml"
GITLAB = CI / "gitlab" / "lspidx.gitlab-ci.yml"
DOCKERFILE = CI / "docker" / "Dockerfile"
SHA = "a" * 40


# ---- linters


def test_the_workflows_hold_for_actionlint_which_gives_their_scripts_to_shellcheck():
    assert len(WORKFLOWS) == 3
    actionlint(*WORKFLOWS)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-actions", [ACTION]),
        ("gitlab-ci", [GITLAB]),
    ],
)
def test_each_template_holds_for_its_schema(schema: str, files: list[Path]):
    transform = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
    ends_well(BIN / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *transform, *files)


def test_a_broken_template_does_not_hold(tmp_path: Path):
    broken = write_tree(tmp_path, {"a.yml": GITLAB.read_text().replace("when: always", "when: sometimes")}) / "a.yml"
    with pytest.raises(AssertionError, match="sometimes"):
        ends_well(BIN / "check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", broken)


def test_scripts_outside_of_workflows_hold_for_shellcheck(tmp_path: Path):
    gitlab = load(GITLAB)
    for number, script in enumerate(
        [*scripts(load(ACTION)), *("\n".join(gitlab_script(gitlab, name)) for name in ("lspidx:nightly", "lspidx:report"))]
    ):
        file = tmp_path / f"{number}.sh"
        file.write_text(f"#!/usr/bin/env bash\n{script}\n", encoding="utf-8")
        ends_well(BIN / "shellcheck", file)


def test_the_dockerfile_holds_for_hadolint():
    ends_well(BIN / "hadolint", DOCKERFILE)


def test_the_hook_and_its_example_hold_for_pre_commit():
    ends_well(BIN / "pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")
    ends_well(BIN / "pre-commit", "validate-config", "ci/pre-commit/pre-commit-config.yaml")
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    (used,) = yaml.safe_load((CI / "pre-commit" / "pre-commit-config.yaml").read_text())["repos"]
    assert {hook["id"] for hook in used["hooks"]} <= hooks


# ---- rules that no linter has


def test_no_script_holds_an_expression():
    """GitHub writes an expression's value into the script before the shell reads it: a branch's name could be a command."""
    found = [text for path in [*WORKFLOWS, ACTION] for text in scripts(load(path))]
    assert len(found) >= 9
    assert not [text for text in found if "${{" in text]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_asks_for_little(path: Path):
    workflow = load(path)
    assert workflow["permissions"] in ({}, {"contents": "read"})
    assert workflow["concurrency"]["group"]
    for job in workflow["jobs"].values():
        assert 0 < job["timeout-minutes"] <= 120
        for step in job["steps"]:
            used = step.get("uses", "")
            assert re.fullmatch(r"actions/[a-z/-]+@[0-9a-f]{40}|\./\.github/actions/lspidx-report|", used), used
            if used.startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False
    if path.stem != "pr-comment":
        assert all("permissions" not in job for job in workflow["jobs"].values())
        assert "secrets" not in path.read_text()
        assert "github.token" not in path.read_text()


def test_every_command_of_a_template_that_may_start_a_server_says_how_far_the_change_is_trusted():
    """Whatever a variable of the pipeline or the repository says."""
    lines = [
        line
        for path in (*WORKFLOWS, ACTION, GITLAB)
        for line in path.read_text().splitlines()
        if re.search(r'"\$LSPIDX" (index|report|verify|watch)\b', line)
    ]
    assert len(lines) >= 5
    assert [line for line in lines if "--trust none" not in line] == []


def test_the_job_with_rights_is_started_by_no_pull_request_and_checks_out_the_default_branch():
    workflow = load(GITHUB / "pr-comment.yml")
    assert set(workflow["on"]) == {"workflow_run"}
    assert workflow["on"]["workflow_run"]["workflows"] == [load(GITHUB / "pr-report.yml")["name"]]
    (job,) = workflow["jobs"].values()
    checkouts = [step for step in job["steps"] if "checkout" in step.get("uses", "")]
    assert [step["with"]["ref"] for step in checkouts] == ["${{ github.event.repository.default_branch }}"]
    assert not any("lspidx-venv" in text or "pip" in text for text in scripts(workflow))


def test_only_the_jobs_of_the_default_branch_save_a_cache():
    assert "actions/cache/save" in (GITHUB / "nightly-index.yml").read_text()
    for path in (ACTION, GITHUB / "pr-report.yml"):
        assert not re.search(r"actions/cache(/save)?@", path.read_text())


# ---- a repository with a base and a head


BASE = {
    "shop/__init__.py": "",
    "shop/core.py": "def price(number: int) -> int:\n    return number * 2\n\n\ndef gone(number: int) -> int:\n    return number\n",
    "shop/use.py": "from shop.core import gone, price\n\n\ndef total(number: int) -> int:\n    return price(number) + gone(number)\n",
    "tests/test_use.py": "from shop.use import total\n\n\ndef test_total() -> None:\n    assert total(1) == 3\n",
}
HEAD = "def price(number: int) -> int:\n    return number * 2\n"


def make_repository(folder: Path, branch: str = "feature", more: dict[str, str] | None = None) -> Path:
    """The base on `main`, and a merge of a branch that removes a function and leaves its caller, as GitHub checks it out."""
    write_tree(folder, {**BASE, ".github/actions/lspidx-report/action.yml": ACTION.read_text()})
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    git(folder, "switch", "-q", "-c", branch)
    write_tree(folder, {"shop/core.py": HEAD, **(more or {})})
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "remove gone")
    git(folder, "switch", "-q", "main")
    git(folder, "switch", "-q", "--detach")
    git(folder, "merge", "-q", "--no-ff", "-m", "merge", branch)
    return folder


@dataclass
class Site:
    """What the templates are run with: a wheel made of what the image's build would see of this work tree, and an environment with it."""

    wheel: Path
    venv: Path

    def put(self, place: Path) -> None:
        """A copy of the environment that takes no space: the step that makes one finds it and has little to do."""
        shutil.copytree(self.venv, place, symlinks=True, copy_function=os.link)

    def temp(self, folder: Path, *, installs: bool) -> Path:
        """A runner's folder in which the environment is there already; one of its own where a step `installs` lspidx once more."""
        folder.mkdir()
        if installs:
            self.put(folder / "lspidx-venv")
        else:
            (folder / "lspidx-venv").symlink_to(self.venv)
        return folder


def image_context(folder: Path) -> Path:
    """What `docker build` sends: the work tree through Dockerfile.dockerignore, whose patterns are read as Docker does, last match wins."""
    lines = (CI / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for path in filter(None, listed):
        parents = ["/".join(path.split("/")[: depth + 1]) for depth in range(path.count("/") + 1)]
        sent = True
        for pattern in patterns:
            wanted = pattern.removeprefix("!")
            if any(fnmatch(parent, wanted) or fnmatch(f"/{parent}", wanted.replace("**", "*")) for parent in parents):
                sent = pattern.startswith("!")
        if sent and (ROOT / path).is_file():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
    return folder


UNCOMPILED = {"PIP_NO_COMPILE": "1"}
"""Of what is installed, commands load a small part: Python compiles that when it is first imported."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The install step of the nightly job, run once for real."""
    requires(PYPI)
    folder = tmp_path_factory.mktemp("site")
    context = image_context(folder / "context")
    assert not (context / "tests").exists()
    ends_well(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, context)
    (wheel,) = folder.glob("*.whl")
    temp = folder / "temp"
    temp.mkdir()
    step = next(step for step in load(GITHUB / "nightly-index.yml")["jobs"]["index"]["steps"] if step.get("name") == "Install lspidx")
    exported = {"LSPIDX_PACKAGE": str(wheel), **UNCOMPILED}
    runner = Runner(folder, temp, Storage(folder), {"runner": {"temp": str(temp)}, "steps": {}}, exported=exported)
    runner._steps([step])
    assert runner.exported["LSPIDX"] == f"{temp}/lspidx-venv/bin/lspidx"
    loaded = (*LOADED, "indexer.crawl.worker.serve", "indexer.cache.reader")
    ends_well(temp / "lspidx-venv/bin/python", "-I", "-c", f"import {', '.join(loaded)}", env=environment(folder))
    return Site(wheel, temp / "lspidx-venv")


def event(number: int = 3) -> dict[str, Any]:
    return {"event": {"pull_request": {"number": number, "base": {"sha": "0" * 40}}}, "sha": "1" * 40}


def pull_request_job(folder: Path, site: Site, storage: Storage, *, installs: bool = False, **variables: str) -> Runner:
    """The machine on which pr-report.yml runs."""
    contexts = {"github": event(), "vars": {"LSPIDX_PACKAGE": str(site.wheel), **variables}}
    return Runner(folder, site.temp(folder.parent / "temp", installs=installs), storage, contexts, has_lspidx=not installs)


REPORT = load(GITHUB / "pr-report.yml")
FILES = ["pull-request", "report.html", "report.json", "report.markdown", "report.sarif"]


@dataclass
class Made:
    """A nightly index, and the job of a pull request that has failed at its level."""

    root: Path
    storage: Storage
    nightly: Runner
    job: Runner
    failure: str

    def file(self, name: str) -> str:
        with zipfile.ZipFile(io.BytesIO(self.storage.artifacts["lspidx-report"])) as archive:
            assert sorted(archive.namelist()) == FILES
            return archive.read(name).decode()


@pytest.fixture(scope="module")
def made(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    (folder / "store").mkdir()
    storage = Storage(folder / "store")
    root = make_repository(folder / "shop")
    clone = folder / "nightly" / "shop"
    clone.parent.mkdir()
    git(folder, "clone", "-q", "--branch", "main", str(root), str(clone))
    contexts = {"github": {"sha": git(clone, "rev-parse", "HEAD")}, "vars": {"LSPIDX_PACKAGE": str(site.wheel)}}
    nightly = Runner(clone, site.temp(folder / "nightly" / "temp", installs=False), storage, contexts, has_lspidx=True)
    workflow = load(GITHUB / "nightly-index.yml")
    nightly.job(workflow, "index")
    (folder / "published" / "temp").mkdir(parents=True)
    Runner(folder / "published", folder / "published" / "temp", storage, contexts).job(workflow, "publish")
    job = pull_request_job(root, site, storage, installs=True)
    with pytest.raises(StepFailed) as failed:
        job.job(REPORT, "report")
    return Made(root, storage, nightly, job, str(failed.value))


def test_the_nightly_jobs_publish_a_sound_index_of_the_commit(made: Made, site: Site, tmp_path: Path):
    archive = zipfile.ZipFile(io.BytesIO(made.storage.artifacts["lspidx-index-all"]))
    commit = git(made.nightly.workspace, "rev-parse", "HEAD")
    status = json.loads(archive.read("status-all.json"))
    assert commit in json.dumps(status)
    assert list(made.storage.caches) == [
        next(key for key in made.storage.caches if key.startswith("lspidx-servers-Linux-")),
        f"lspidx-index-Linux-{commit}",
    ]
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(made.nightly.workspace), str(other))
    lspidx, env = site.venv / "bin" / "lspidx", environment(other)
    asked = (lspidx, "query", "callers", "gone")
    ends_well(lspidx, "cache", "import", made.storage.caches[f"lspidx-index-Linux-{commit}"] / "index.tar", cwd=other, env=env)
    ends_well(lspidx, "lint", cwd=other, env=env)
    assert "shop/use.py:5" in ends_well(*asked, cwd=other, env=env)
    shutil.rmtree(other / ".lspidx")
    archive.extract("index-all.tar", tmp_path)
    ends_well(lspidx, "cache", "import", tmp_path / "index-all.tar", cwd=other, env=env)
    assert "shop/use.py:5" in ends_well(*asked, cwd=other, env=env)


def test_the_job_of_a_pull_request_fails_at_its_level_after_the_report_is_kept(made: Made):
    assert made.failure.startswith("Fail at the chosen level ended with 1")
    report = json.loads(made.file("report.json"))
    worst = report["findings"][0]
    assert (worst["symbol"]["qualified_name"], worst["symbol"]["what"], worst["level"]) == ("shop.core.gone", "removed", "critical")
    assert "shop/use.py:5" in made.file("report.markdown")
    assert made.file("pull-request") == "3"
    assert json.loads(made.file("report.sarif"))["version"] == "2.1.0"
    assert "<html" in made.file("report.html")


def crawled(site: Site, machine: Path, root: Path) -> tuple[int, int]:
    """How many files a job has asked its servers about, and how many there are, as the machine's user sees its index."""
    env = environment(root, **home_of(machine))
    manifest = json.loads(ends_well(site.venv / "bin" / "lspidx", "status", "--json", cwd=root, env=env))["result"]["details"]["manifest"]
    return manifest["crawled"], manifest["counts"]["documents"]


def test_a_pull_request_asks_only_about_what_differs_from_the_nightly_index(made: Made, site: Site):
    """On a machine with a home of its own: about the file that changed, and the one that used what is gone."""
    assert crawled(site, made.nightly.temp, made.nightly.workspace) == (4, 4)
    assert crawled(site, made.job.temp, made.root) == (2, 4)


def test_the_next_night_asks_only_about_what_has_changed(made: Made, site: Site, tmp_path: Path):
    clone, temp = tmp_path / "shop", tmp_path / "temp"
    git(tmp_path, "clone", "-q", str(made.nightly.workspace), str(clone))
    write_tree(clone, {"shop/use.py": BASE["shop/use.py"].replace("price(number) + ", "")})
    git(clone, "commit", "-q", "-a", "-m", "a body")
    contexts = {"github": {"sha": git(clone, "rev-parse", "HEAD")}, "vars": {"LSPIDX_PACKAGE": str(site.wheel)}}
    (tmp_path / "store").mkdir()
    storage = Storage(tmp_path / "store", dict(made.storage.caches))
    second = Runner(clone, site.temp(temp, installs=False), storage, contexts, has_lspidx=True)
    second.job(load(GITHUB / "nightly-index.yml"), "index")
    assert "::notice::" not in second.log
    assert crawled(site, temp, clone) == (1, 4)


def test_a_nightly_index_that_is_damaged_costs_a_crawl_of_everything(made: Made, site: Site, tmp_path: Path):
    (tmp_path / "store").mkdir()
    damaged = tmp_path / "cache"
    damaged.mkdir()
    (damaged / "index.tar").write_bytes(b"no archive")
    root = make_repository(tmp_path / "shop")
    caches = {key: damaged if key.startswith("lspidx-index-") else place for key, place in made.storage.caches.items()}
    job = pull_request_job(root, site, Storage(tmp_path / "store", caches))
    with pytest.raises(StepFailed, match="Fail at the chosen level ended with 1"):
        job.job(REPORT, "report")
    assert "::notice::no use for the nightly index" in job.log
    assert crawled(site, job.temp, root) == (4, 4)


def test_the_old_side_is_the_restored_nightly_index(made: Made):
    assert json.loads(made.file("report.json"))["base"] == "base index"
    assert not (made.root / ".lspidx" / "bases").exists()


def test_the_job_of_a_pull_request_writes_annotations_and_a_summary(made: Made):
    assert re.search(r"^::error file=shop/core\.py,title=critical%3A removed gone::", made.job.log, re.MULTILINE)
    assert made.job.summary.startswith(f"{MARKER}\n")
    assert "`shop/use.py:5`" in made.job.summary
    assert made.job.summary.count(MARKER) == 1


def test_without_a_nightly_index_the_old_side_is_made(site: Site, tmp_path: Path):
    root = make_repository(tmp_path / "shop")
    (tmp_path / "store").mkdir()
    storage = Storage(tmp_path / "store")
    with pytest.raises(StepFailed, match="Fail at the chosen level ended with 1"):
        pull_request_job(root, site, storage).job(REPORT, "report")
    assert "`shop/use.py:5`" in zipfile.ZipFile(io.BytesIO(storage.artifacts["lspidx-report"])).read("report.markdown").decode()


def test_a_team_may_want_no_level(made: Made, site: Site, tmp_path: Path):
    root = make_repository(tmp_path / "shop")
    (tmp_path / "store").mkdir()
    job = pull_request_job(root, site, Storage(tmp_path / "store", dict(made.storage.caches)), LSPIDX_FAIL_ON="never")
    job.job(REPORT, "report")
    assert "::error file=shop/core.py" in job.log


def test_a_baseline_with_reasons_lets_the_job_pass(made: Made, site: Site, tmp_path: Path):
    lspidx = site.venv / "bin" / "lspidx"
    root = make_repository(tmp_path / "shop")
    shutil.copytree(made.root / ".lspidx", root / ".lspidx")
    theirs = environment(root, **home_of(made.job.temp))
    ends_well(lspidx, "report", "--base", "HEAD^1", "--write-baseline", "accepted.json", cwd=root, env=theirs)
    accepted = json.loads((root / "accepted.json").read_text())
    assert accepted["accepted"]
    for entry in accepted["accepted"]:
        entry["reason"] = "known"
    (root / "accepted.json").write_text(json.dumps(accepted))
    git(root, "add", "accepted.json")
    git(root, "commit", "-q", "--amend", "-m", "merge")
    (tmp_path / "store").mkdir()
    job = pull_request_job(root, site, Storage(tmp_path / "store", dict(made.storage.caches)), LSPIDX_BASELINE="accepted.json")
    job.job(REPORT, "report")
    assert "::error" not in job.log


def test_an_index_in_a_pull_request_is_refused(made: Made, site: Site, tmp_path: Path):
    poison = {".lspidx/CURRENT": "gen-9.duckdb\n", ".lspidx/db/gen-9.duckdb": "poison"}
    root = make_repository(tmp_path / "shop", "side", poison)
    (tmp_path / "store").mkdir()
    job = pull_request_job(root, site, Storage(tmp_path / "store", dict(made.storage.caches)))
    with pytest.raises(StepFailed, match=r"Index ended with 4\n(.*\n)*error: git tracks .*git rm -r --cached"):
        job.job(REPORT, "report")


def test_what_is_hostile_in_a_pull_request_is_not_run(made: Made, site: Site, tmp_path: Path):
    mark = "import pathlib\npathlib.Path(__file__).with_name('pwned').touch()\n"
    root = make_repository(
        tmp_path / "shop",
        "x$(touch${IFS}pwned);`touch${IFS}pwned`",
        {
            **dict.fromkeys(["venv.py", "pip.py", "pip/__main__.py", "sitecustomize.py", "json.py", "click.py", "query.py"], mark),
            "pip.conf": "[global]\nindex-url = http://127.0.0.1:9/\n",
            "$(touch pwned).py": "def a(): ...\n",
            "::error::pwned.py": "def b(): ...\n",
        },
    )
    contexts = event()
    contexts["event"]["pull_request"] |= {"title": "$(touch pwned)", "head": {"ref": "x$(touch pwned)"}}
    (tmp_path / "store").mkdir()
    storage = Storage(tmp_path / "store", dict(made.storage.caches))
    job = pull_request_job(root, site, storage, installs=True)
    job.contexts["github"] = contexts
    with pytest.raises(StepFailed, match="Fail at the chosen level ended with 1"):
        job.job(REPORT, "report")
    assert not list(tmp_path.rglob("pwned"))
    for line in job.log.splitlines():
        assert not line.startswith("::error::pwned")
    markdown = zipfile.ZipFile(io.BytesIO(storage.artifacts["lspidx-report"])).read("report.markdown").decode()
    assert "pwned" in markdown
    assert POSTER.is_harmless(markdown)


# ---- the job that posts


def load_poster() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pr_comment", GITHUB / "pr_comment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


POSTER = load_poster()
MARKER = POSTER.MARKER
GOOD = f"{MARKER}\n## 🟢 Change report: low\n\n`main...HEAD`: 1 file.\n"
SARIF = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lspidx"}}, "results": []}]}


def artifact(**changed: bytes | str | None) -> bytes:
    """A good artefact, but for what is changed; None leaves a file out."""
    files = {"pull-request": "3", "report.markdown": GOOD, "report.sarif": json.dumps(SARIF)}
    files |= {name.replace("_", "-") if name == "pull_request" else name.replace("_", "."): value for name, value in changed.items()}
    return zip_of({name: content for name, content in files.items() if content is not None})


@pytest.fixture
def runner_of(tmp_path: Path) -> Callable[..., Runner]:
    """Runs pr-comment.yml against a server; the run's event is that of a fork's branch."""

    def run(server: FakeGitHub, **changed: Any) -> Runner:
        told = {
            "id": 7,
            "event": "pull_request",
            "head_sha": SHA,
            "head_branch": "feature",
            "head_repository": {"full_name": "fork/shop", "owner": {"login": "fork"}},
            "pull_requests": [],  # GitHub tells none where the branch is a fork's
            **changed,
        }
        root = write_tree(tmp_path / "work", {".github/lspidx/pr_comment.py": (GITHUB / "pr_comment.py").read_text()})
        temp = tmp_path / "temp"
        temp.mkdir(exist_ok=True)
        (tmp_path / "event.json").write_text(json.dumps({"workflow_run": told}))
        api = {
            "GITHUB_API_URL": server.url,
            "GITHUB_REPOSITORY": "team/shop",
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        }
        runner = Runner(root, temp, Storage(temp), {"github": {"token": TOKEN}}, exported=api)
        before = {path for path in tmp_path.rglob("*") if path.is_file()}
        try:
            runner.job(load(GITHUB / "pr-comment.yml"), "comment")
        finally:
            new = {path.name for path in tmp_path.rglob("*") if path.is_file() and path not in before}
            assert new <= {"script.sh", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH"}
        return runner

    return run


def test_the_report_of_a_real_run_is_posted_as_it_is_with_its_sarif(made: Made, runner_of: Any):
    with FakeGitHub([pull(3)], made.storage.artifacts["lspidx-report"]) as server:
        runner_of(server)
    (posted,) = server.comments
    assert posted["issue"] == 3
    assert posted["body"] == made.file("report.markdown")
    (upload,) = server.uploads
    assert (upload["commit_sha"], upload["ref"]) == (SHA, "refs/pull/3/head")
    (run,) = json.loads(gzip.decompress(b64decode(upload["sarif"])))["runs"]
    assert run["automationDetails"]["id"] == "lspidx/report/"
    assert run["results"]


def test_a_second_run_updates_the_comment_however_many_there_are(runner_of: Any):
    others = [comment(3, f"{number}", author="somebody", id=number) for number in range(150)]
    with FakeGitHub([pull(3)], artifact(), comments=others) as server:
        runner_of(server)
        server.artifact = artifact(report_markdown=GOOD.replace("low", "high"))
        runner_of(server)
    mine = [item["body"] for item in server.comments if item["body"].startswith(MARKER)]
    assert mine == [GOOD.replace("low", "high")]


def test_a_comment_of_somebody_else_with_our_marker_is_left_alone(runner_of: Any):
    with FakeGitHub([pull(3)], artifact(), comments=[comment(3, f"{MARKER}\nmine", author="mallory", id=5)]) as server:
        runner_of(server)
    assert [item["body"] for item in server.comments] == [f"{MARKER}\nmine", GOOD]


def test_the_host_of_the_archive_is_not_shown_our_token(runner_of: Any):
    with FakeGitHub([pull(3)], artifact()) as server:
        runner_of(server)
    assert server.blob_headers == [None]


def test_a_repository_without_code_scanning_gets_the_comment(runner_of: Any):
    with FakeGitHub([pull(3)], artifact(), code_scanning=False) as server:
        runner = runner_of(server)
    assert len(server.comments) == 1
    assert "::notice::code scanning is not enabled" in runner.log


@pytest.mark.parametrize(
    "pulls",
    [
        [],
        [pull(3, sha="b" * 40)],  # it has moved on
        [pull(3, owner="other")],
        [pull(3, ref="else")],
    ],
    ids=["closed", "newer head", "other fork", "other branch"],
)
def test_nothing_is_posted_where_the_runs_commit_is_no_pull_requests_head(runner_of: Any, pulls: list[dict[str, Any]]):
    with FakeGitHub(pulls, artifact()) as server:
        runner = runner_of(server)
    assert server.written == []
    assert "no open pull request has this commit as its head" in runner.log


def test_nothing_is_posted_where_the_run_has_left_nothing_or_its_fork_is_gone(runner_of: Any):
    with FakeGitHub([pull(3)]) as server:
        assert "left no report" in runner_of(server).log
    with FakeGitHub([pull(3)], artifact(), name="lspidx-report-2") as server:
        assert "left no report" in runner_of(server).log
    with FakeGitHub([pull(3)], artifact()) as server:
        assert "no open pull request" in runner_of(server, head_repository=None).log
    assert server.written == []


def bomb() -> bytes:
    """An archive of some kB whose report has 300 MB."""
    return zip_of({"pull-request": "3", "report.markdown": b"a" * 300_000_000})


@pytest.mark.parametrize(
    ("content", "size", "why"),
    [
        (lambda: artifact(pull_request="4"), None, "names a pull request that this run is not of"),
        (lambda: artifact(pull_request="3/../4"), None, "names a pull request that this run is not of"),
        (lambda: artifact(pull_request=None), None, "names a pull request that this run is not of"),
        (lambda: artifact(pull_request="3" * 10_000), None, "'pull-request' has more than 20 bytes"),
        (lambda: artifact(), 10**12, "more than 50000000 bytes"),
        (lambda: zip_of({"noise": os.urandom(50_000_001)}), 5, "more than 50000000 bytes"),  # larger than it says
        (bomb, None, "'report.markdown' has more than 260000 bytes"),
        (lambda: artifact(report_markdown=b"\xff\xfe"), None, "'report.markdown' cannot be read"),
        (lambda: artifact(report_markdown=None), None, "has no 'report.markdown'"),
        (lambda: b"PK no archive", None, "no ZIP file"),
        (lambda: artifact()[:-40], None, "no ZIP file"),
        (lambda: zip_of({"../../report.markdown": GOOD, "/pull-request": "3"}), None, "names a pull request that this run is not of"),
    ],
    ids=[
        "another's number", "no number", "number left out", "long number", "huge by its word", "huge in secret", "bomb", "no text",
        "no report", "no archive", "cut archive", "names that lead elsewhere",
    ],
)  # fmt: skip
def test_a_hostile_archive_is_refused_and_nothing_is_posted(runner_of: Any, content: Any, size: int | None, why: str):
    with FakeGitHub([pull(3), pull(4, owner="victim")], content(), size=size) as server, pytest.raises(StepFailed, match=re.escape(why)):
        runner_of(server)
    assert server.written == []


def test_members_with_names_that_lead_elsewhere_are_not_unpacked(runner_of: Any, tmp_path: Path):
    files = {"pull-request": "3", "report.markdown": GOOD, "../../pwned": "x", "/pwned": "x", "report.html": "<script>"}
    with FakeGitHub([pull(3)], zip_of(files)) as server:
        runner_of(server)
    assert [item["body"] for item in server.comments] == [GOOD]
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize(
    "sarif",
    [
        {**SARIF, "runs": [{"tool": {"driver": {"name": "CodeQL"}}, "results": []}]},
        {**SARIF, "runs": SARIF["runs"] * 2},
        {**SARIF, "version": "2.0.0"},
        [],
        "x",
        {"version": "2.1.0", "runs": [None]},
    ],
)
def test_results_in_the_name_of_another_tool_are_refused(runner_of: Any, sarif: Any):
    with (
        FakeGitHub([pull(3)], artifact(report_sarif=json.dumps(sarif))) as server,
        pytest.raises(StepFailed, match="SARIF is not lspidx's"),
    ):
        runner_of(server)
    assert server.uploads == []


def test_a_category_that_is_not_ours_is_replaced(runner_of: Any):
    given = json.dumps({**SARIF, "runs": [{**SARIF["runs"][0], "automationDetails": {"id": "/language:python"}}]})
    with FakeGitHub([pull(3)], artifact(report_sarif=given)) as server:
        runner_of(server)
    (upload,) = server.uploads
    assert json.loads(gzip.decompress(b64decode(upload["sarif"])))["runs"][0]["automationDetails"] == {"id": "lspidx/report/"}


HOSTILE = [
    "[click](https://evil.example)",
    "![pixel](//evil.example/x.png)",
    "see https://evil.example",
    "www.evil.example",
    "@maintainer please merge",
    "fixes #1",
    "<img src=x>",
    "<a href=x>y</a>",
    "<!-- lspidx report -->",
    "`a` <b>",
    "`a\\` @b `c",
    "| `a | @b | c` |",
    "`` @a ``",
    "[x]: //evil.example",
    "<details>\n`<img src=x>`",
    "<details>\n```sh\npytest a\n```",
    "```sh\ncurl evil.example\n```",
    "```sh\npytest $(id)\n```",
    "```sh\npytest a; id\n```",
    "```mermaid\nflowchart LR\n  click n0 \"https://evil.example\"\n```",
    "```mermaid\n  n0[\"<img src=x>\"]\n```",
    "```sh\npytest a",
    "```sh\npytest a\n````\n@a\n```",
    "    ```sh\n@a\n```",
    "&#64;maintainer",
    "$\\href{x}{y}$",
    "a\u202eb",
    "\x1b[31m",
    "x" * 65_001,
]  # fmt: skip


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_text_that_lspidx_would_not_write_is_not_posted(runner_of: Any, line: str):
    with FakeGitHub([pull(3)], artifact(report_markdown=f"{GOOD}\n{line}\n")) as server:
        runner = runner_of(server)
    (posted,) = server.comments
    assert posted["body"] == f"{MARKER}\nThe report holds text that is not posted as it is. The artefact `lspidx-report` of run 7 has it.\n"
    assert "::warning::" in runner.log


# ---- GitLab


def gitlab_script(template: dict[str, Any], name: str) -> list[str]:
    """The lines that the runner gives to the shell for a job: those of what it extends, then its own."""
    job = template[name]
    base = template[job["extends"]]
    return [*base["before_script"], *job["script"]]


def _replaced(told: dict[str, str]) -> dict[str, str]:
    return {key: re.sub(r"\$(CI_\w+)", lambda match: told.get(match[1], match[0]), value) for key, value in told.items()}


def run_gitlab(root: Path, name: str, machine: Path, *, installs: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a job as the runner does: one shell, which ends at the first line that fails, on a machine with a home of its own.

    Args:
        installs: the job makes lspidx's environment; else it finds the one that an earlier job has left.
    """
    machine.mkdir()
    template = load(GITLAB)
    job, base = template[name], template[template[name]["extends"]]
    told = {"CI_PROJECT_DIR": str(root), "CI_DEFAULT_BRANCH": "main", **template["variables"], **base["variables"], **variables}
    if "parallel" in job:
        told |= {key: values[0] for key, values in job["parallel"]["matrix"][0].items()}
    told = _replaced(_replaced(told))  # variables that name variables
    script = "\n".join(gitlab_script(template, name))
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script if installs else without_install(script)],
        cwd=root,
        env={**environment(root), **home_of(machine), **told},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


def test_the_jobs_of_gitlab_make_an_index_and_a_report_that_fails_at_its_level(site: Site, tmp_path: Path):
    root = make_repository(tmp_path / "shop")
    feature, base = git(root, "rev-parse", "HEAD"), git(root, "rev-parse", "HEAD^1")
    git(root, "switch", "-q", "--detach", base)
    site.put(root / ".lspidx-ci" / "venv")
    nightly = run_gitlab(root, "lspidx:nightly", tmp_path / "first", installs=True, LSPIDX_PACKAGE=str(site.wheel))
    assert nightly.returncode == 0, nightly.stdout
    assert (root / "lspidx-index" / "index-all.tar").stat().st_size > 0
    assert json.loads((root / "lspidx-index" / "status-all.json").read_text())
    shutil.rmtree(root / "lspidx-index")
    shutil.rmtree(root / ".lspidx")  # it is not among what the jobs keep
    git(root, "switch", "-q", "--detach", feature)
    given = {"LSPIDX_PACKAGE": str(site.wheel), "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
    report = run_gitlab(root, "lspidx:report", tmp_path / "second", **given)
    assert report.returncode == 1, report.stdout
    assert crawled(site, tmp_path / "second", root) == (2, 4)
    shutil.rmtree(root / ".lspidx")
    again = run_gitlab(root, "lspidx:report", tmp_path / "third", **given)
    assert again.returncode == 1, again.stdout
    assert crawled(site, tmp_path / "third", root) == (0, 4)
    assert "shop.core.gone" in report.stdout
    job = load(GITLAB)["lspidx:report"]
    assert job["artifacts"]["when"] == "always"
    for path in job["artifacts"]["reports"].values():
        assert (root / path).is_file()
    found = json.loads((root / job["artifacts"]["reports"]["codequality"]).read_text())
    assert found[0]["location"]["path"] == "shop/core.py"
    assert git(root, "status", "--porcelain", "--untracked-files=normal") == "?? lspidx-report/"
    # and one that commits an index
    git(root, "add", "-f", ".lspidx/CURRENT")
    refused = run_gitlab(root, "lspidx:report", tmp_path / "fourth", **given)
    assert refused.returncode == 1
    assert "not to be committed" in refused.stdout


# ---- pre-commit


def test_the_hook_stops_a_commit_that_leaves_callers_and_lets_another_pass(site: Site, tmp_path: Path):
    """By git's own hook as `pre-commit install` writes it; pre-commit installs lspidx from a repository, as it does for every user."""
    requires(PYPI)
    source = image_context(tmp_path / "lspidx")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", source)
    git(source, "init", "-q", "-b", "main")
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "lspidx")
    example = load(CI / "pre-commit" / "pre-commit-config.yaml")
    example["repos"][0] |= {"repo": str(source), "rev": git(source, "rev-parse", "HEAD")}
    root = write_tree(tmp_path / "shop", {**BASE, ".pre-commit-config.yaml": yaml.safe_dump(example)})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "base")
    env = environment(tmp_path, PRE_COMMIT_HOME=str(tmp_path / "cache"), **UNCOMPILED)
    ends_well(BIN / "pre-commit", "install", cwd=root, env=env)

    def commit() -> tuple[int, str]:
        """Tries a commit of what is staged."""
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "change"]
        done = subprocess.run(command, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
        return done.returncode, done.stdout

    write_tree(root, {"shop/core.py": BASE["shop/core.py"].replace("number * 2", "number * 3")})
    git(root, "add", "-A")
    code, said = commit()
    assert code == 1
    assert "to make one: lspidx index" in said
    ends_well(site.venv / "bin" / "lspidx", "index", "--quiet", cwd=root, env=env)
    code, said = commit()
    assert code == 0, said
    write_tree(root, {"shop/core.py": HEAD})
    git(root, "add", "-A")
    code, said = commit()
    assert code == 1
    assert "shop.core.gone" in said
    git(root, "reset", "-q", "--hard")
    git(root, "rm", "-q", "shop/core.py")  # no file is left that pre-commit could name
    code, said = commit()
    assert code == 1
    assert "shop.core.gone" in said


# ---- the image


@dataclass
class Instruction:
    word: str
    rest: str


def instructions() -> list[Instruction]:
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [Instruction(*line.split(None, 1)) for line in lines if line.strip()]


def test_the_image_is_pinned_and_run_by_nobody_in_particular():
    found = instructions()
    base = next(item.rest for item in found if item.word == "FROM")
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+", base)
    users = [item.rest for item in found if item.word == "USER"]
    assert users[-1].isdigit()
    assert int(users[-1]) >= 1000
    last_run = max(number for number, item in enumerate(found) if item.word == "RUN")
    assert next(number for number, item in enumerate(found) if item.word == "USER") > last_run
    assert json.loads(next(item.rest for item in found if item.word == "ENTRYPOINT")) == ["lspidx"]


def test_the_images_steps_install_lspidx_and_its_servers(site: Site, tmp_path: Path):
    """Each RUN in order, with what needs root replaced by scripts that note their arguments; then the entry point."""
    requires(PYPI, "npm")
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    for name in ("apt-get", "useradd", "rm"):
        (stubs / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {shlex.quote(str(tmp_path / "noted"))}\n')
    (stubs / "git").write_text(
        f'#!/bin/sh\nif [ "$1 $2" = "config --system" ]; then echo git "$@" >> {shlex.quote(str(tmp_path / "noted"))}; '
        f'else exec {shutil.which("git")} "$@"; fi\n'
    )
    for stub in stubs.iterdir():
        stub.chmod(0o755)
    from indexer.servers.installed import servers_dir

    home = tmp_path / "opt"
    home.mkdir()
    site.put(home / "venv")
    arguments = {item.rest.split("=", 1)[0]: item.rest.split("=", 1)[1].strip('"') for item in instructions() if item.word == "ARG"}
    env = {
        **environment(tmp_path),
        **arguments,
        "LSPIDX_PACKAGE": str(site.wheel),
        "LSPIDX_HOME": str(home),
        "LSPIDX_SERVERS_DIR": str(servers_dir()),  # where the tests' servers are: what is there is not fetched again
    }
    env["PATH"] = f"{stubs}{os.pathsep}{env['PATH']}"
    shell = json.loads(next(item.rest for item in instructions() if item.word == "SHELL"))
    ran = [item.rest for item in instructions() if item.word == "RUN"]
    assert len(ran) == 4
    for script in ran:
        ends_well(shutil.which("bash") or shell[0], *shell[1:], script, cwd=tmp_path, env=env)
    noted = (tmp_path / "noted").read_text()
    assert "apt-get install --yes --no-install-recommends git nodejs npm" in noted
    assert "git config --system --add safe.directory /src" in noted
    assert "useradd --uid 10001" in noted
    installed = json.loads(ends_well(site.venv / "bin" / "lspidx", "servers", "install", *arguments["SERVERS"].split(), "--json", env=env))
    assert installed
    assert not any(item["fresh"] for item in installed)
    path = next(item.rest for item in instructions() if item.word == "ENV")
    assert "PATH=/opt/lspidx/venv/bin:$PATH" in path
    (entry,) = json.loads(next(item.rest for item in instructions() if item.word == "ENTRYPOINT"))
    (argument,) = json.loads(next(item.rest for item in instructions() if item.word == "CMD"))
    assert ends_well(home / "venv" / "bin" / entry, argument, env=env).startswith("Usage: lspidx")
