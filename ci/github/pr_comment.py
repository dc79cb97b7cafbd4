"""Posts the report of a pull request as one comment that is updated, and its SARIF to code scanning: run by pr-comment.yml.

This job has rights; the job that made the report ran the pull request's own code and workflow, so all that it left is hostile:

- Which pull request it is says GitHub: those of the run's fork and branch whose head is the run's commit. The artefact's own number
  only chooses among them.
- The archive is never unpacked to disk: three members are read by name, each up to a limit. Other members are not looked at.
- The comment is posted only if it is what lspidx writes: names stand in code, nothing outside code can be a link, a picture, a mention
  or HTML. Else a line of our own is posted in its place.
- The SARIF must be lspidx's, with one run; its category is set here, so it cannot stand in for the results of another tool.

Needs Python's standard library only: nothing is installed into a job that has rights.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import re
import shlex
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from http.client import HTTPMessage
from typing import IO, Any

MARKER = "<!-- lspidx report -->"
ARTIFACT = "lspidx-report"
CATEGORY = "lspidx/report/"
MAX_ARCHIVE_BYTES = 50_000_000
MAX_SARIF_BYTES = 20_000_000
MAX_COMMENT_CHARS = 65_000
MAX_PAGES = 30  # of 100 comments each

_REPORT, _SARIF, _NUMBER = "report.markdown", "report.sarif", "pull-request"

_FENCE = re.compile(r"(`{3,})(sh|mermaid)")
_MERMAID = re.compile(
    r"flowchart LR|  n\d+\[\"(?:[\w .+…-]|#\d+;)*\"\](?::::\w+)?|  n\d+ (?:-->|-\. not updated \.->) n\d+"
    r"|  %% \d+ more edges are left out|  classDef \w+ [\w:#,. -]*"
)
_RUNNERS = ("pytest", "go", "cargo", "npx")
_CODE = re.compile(r"`[^`|\\]+`|<code>(?:[^\W_]|&#\d+;| )*</code>")
_BLOCK = re.compile(r"<details>|</details>|<summary>[\w ,.:()-]*</summary>")
_INLINE = re.compile(r"</?sub>|<br>")
_NOT_TEXT = re.compile(r"[<`@\\\[\]~$]|://|www\.|#\w|&\w*#?\w+;")


class Refused(Exception):
    """Something in the artefact is not what lspidx writes."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The archive's address is given as a redirect to another host, which must not see our token."""

    def redirect_request(self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str) -> None:
        return None


class GitHub:
    """The calls that are needed, on one repository."""

    def __init__(self, api: str, repository: str, token: str) -> None:
        self.repository = repository
        self._base = f"{api}/repos/{repository}"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json", "User-Agent": "lspidx"}
        self._open = urllib.request.build_opener(_NoRedirect).open

    def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """JSON of an answer."""
        url = f"{self._base}/{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        with self._open(urllib.request.Request(url, data, self._headers, method=method), timeout=60) as answer:
            return json.loads(answer.read() or b"null")

    def archive(self, artifact: int) -> bytes:
        """An artefact's ZIP file, up to the limit."""
        try:
            answer = self._open(urllib.request.Request(f"{self._base}/actions/artifacts/{artifact}/zip", headers=self._headers), timeout=60)
        except urllib.error.HTTPError as error:
            if error.code not in (301, 302, 307, 308):
                raise
            answer = urllib.request.urlopen(error.headers["Location"], timeout=60)
        with answer:
            content = answer.read(MAX_ARCHIVE_BYTES + 1)
        if len(content) > MAX_ARCHIVE_BYTES:
            raise Refused(f"the archive has more than {MAX_ARCHIVE_BYTES} bytes")
        return content


def member(archive: zipfile.ZipFile, name: str, most: int) -> str | None:
    """Text of one member by its exact name; None if it is not there."""
    if name not in archive.namelist():
        return None
    try:
        with archive.open(name) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise Refused(f"'{name}' has more than {most} bytes")
        return content.decode("utf-8")
    except (zipfile.BadZipFile, UnicodeDecodeError, RuntimeError, NotImplementedError, EOFError, OSError, ValueError) as error:
        raise Refused(f"'{name}' cannot be read: {type(error).__name__}") from error


def is_harmless(text: str) -> bool:
    """Whether a comment has only what lspidx's Markdown has. Reads less than Markdown does: what it does not know it refuses."""
    lines = text.split("\n")
    if lines[0] != MARKER or len(text) > MAX_COMMENT_CHARS or any(not char.isprintable() for line in lines for char in line):
        return False
    fence = language = ""
    after_block = False  # a block of HTML goes on until an empty line, and in it backticks are no code
    for line in lines[1:]:
        if fence:
            if line == fence:
                fence = ""
            elif not (_MERMAID.fullmatch(line) if language == "mermaid" else _runs_tests(line)):
                return False
            continue
        is_block = bool(_BLOCK.fullmatch(line))
        if after_block and line and not is_block:
            return False
        after_block = is_block
        if is_block:
            continue
        opened = _FENCE.fullmatch(line)
        if opened:
            fence, language = opened[1], opened[2]
        elif line != "> [!WARNING]" and _NOT_TEXT.search(_INLINE.sub("", _CODE.sub("", line))):
            return False
    return not fence


def _runs_tests(line: str) -> bool:
    """Whether a line for a shell is one command of a test runner, each of its words quoted."""
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    return bool(words) and words[0] in _RUNNERS and shlex.join(words) == line


def checked_sarif(text: str, category: str) -> str:
    """The SARIF log with our category.

    Raises:
        Refused: it is not a log of one run of lspidx.
    """
    try:
        log = json.loads(text)
        (run,) = log["runs"]
        if log["version"] != "2.1.0" or run["tool"]["driver"]["name"] != "lspidx" or run["tool"].get("extensions"):
            raise Refused("the SARIF is not lspidx's")
        run["automationDetails"] = {"id": category}
        return json.dumps(log)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refused(f"the SARIF is not lspidx's: {type(error).__name__}") from error


def pull_request(github: GitHub, run: dict[str, Any], claimed: str | None) -> int | None:
    """Number of the open pull request whose head is the run's commit; None if there is none (any more).

    Raises:
        Refused: the artefact names one that it is not of.
    """
    if not run.get("head_repository") or not run.get("head_branch"):
        return None
    head = f"{run['head_repository']['owner']['login']}:{run['head_branch']}"
    found = [
        item["number"]
        for item in github.call("GET", "pulls", state="open", head=head, per_page=100)
        if item["head"]["sha"] == run["head_sha"]
        and (item["head"].get("repo") or {}).get("full_name") == run["head_repository"]["full_name"]
        and item["base"]["repo"]["full_name"] == github.repository
    ]
    if not found:
        return None
    if claimed is None or not re.fullmatch(r"[1-9][0-9]{0,9}", claimed) or int(claimed) not in found:
        raise Refused("the artefact names a pull request that this run is not of")
    return int(claimed)


def post(github: GitHub, number: int, body: str, author: str) -> None:
    """Updates the comment of ours, found by the marker and by who wrote it, or adds it."""
    for page in range(1, MAX_PAGES + 1):
        comments = github.call("GET", f"issues/{number}/comments", per_page=100, page=page)
        for item in comments:
            if item["user"] and item["user"]["login"] == author and item["body"].startswith(MARKER):
                github.call("PATCH", f"issues/comments/{item['id']}", {"body": body})
                return
        if len(comments) < 100:
            break
    github.call("POST", f"issues/{number}/comments", {"body": body})


def main() -> int:
    with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
        run = json.load(file)["workflow_run"]
    github = GitHub(os.environ["GITHUB_API_URL"], os.environ["GITHUB_REPOSITORY"], os.environ["GITHUB_TOKEN"])
    listed = github.call("GET", f"actions/runs/{int(run['id'])}/artifacts", name=ARTIFACT, per_page=100)["artifacts"]
    kept = [item for item in listed if item["name"] == ARTIFACT and not item["expired"]]
    if not kept:
        print("the run has left no report")
        return 0
    newest = max(kept, key=lambda item: item["id"])
    if newest["size_in_bytes"] > MAX_ARCHIVE_BYTES:
        raise Refused(f"the archive has more than {MAX_ARCHIVE_BYTES} bytes")
    try:
        archive = zipfile.ZipFile(io.BytesIO(github.archive(int(newest["id"]))))
    except (zipfile.BadZipFile, ValueError) as error:
        raise Refused("the archive is no ZIP file") from error
    number = pull_request(github, run, member(archive, _NUMBER, 20))
    if number is None:
        print("no open pull request has this commit as its head; a later run will report")
        return 0
    text = member(archive, _REPORT, 4 * MAX_COMMENT_CHARS)
    if text is None:
        raise Refused(f"the archive has no '{_REPORT}'")
    if not is_harmless(text):
        print("::warning::the report holds what is not posted as it is; the artefact has it")
        text = f"{MARKER}\nThe report holds text that is not posted as it is. The artefact `{ARTIFACT}` of run {int(run['id'])} has it.\n"
    post(github, number, text, os.environ.get("LSPIDX_COMMENTER") or "github-actions[bot]")
    print(f"posted to pull request {number}")
    sarif = member(archive, _SARIF, MAX_SARIF_BYTES)
    if sarif is not None:
        packed = base64.b64encode(gzip.compress(checked_sarif(sarif, CATEGORY).encode())).decode()
        upload = {"commit_sha": run["head_sha"], "ref": f"refs/pull/{number}/head", "sarif": packed, "tool_name": "lspidx"}
        try:
            github.call("POST", "code-scanning/sarifs", upload)
        except urllib.error.HTTPError as error:
            if error.code not in (403, 404):
                raise
            print("::notice::code scanning is not enabled in this repository; the SARIF is in the artefact only")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        print(f"::error::refused: {refused}")
        sys.exit(1)
