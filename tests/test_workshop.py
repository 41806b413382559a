"""The files around the code agree: tasks, hooks, workflow, dependency groups, versions, citation and news."""

from __future__ import annotations

import os
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import sfumato

ROOT = Path(__file__).resolve().parent.parent
LISTED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT, GROUPS = LISTED["project"], LISTED["dependency-groups"]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
MOST_TASKS = 12
RESERVED = ".example"  # an address that nobody owns
TYPES = ("added", "changed", "fixed", "security")
NEWS = re.compile(rf"\d+\.({'|'.join(TYPES)})(\.\d+)?\.md")


def commands(job):
    return [step["run"] for step in WORKFLOW["jobs"][job]["steps"] if "run" in step]


def test_every_task_is_one_explained_line():
    lines = (ROOT / "justfile").read_text("utf-8").splitlines()
    names = [number for number, line in enumerate(lines) if re.match(r"[a-z].*:", line) and ":=" not in line]
    bodies = [line for line in lines if line.startswith(" ")]
    assert len(names) == len(bodies) <= MOST_TASKS
    assert all(lines[number - 1].startswith("# ") for number in names)
    assert all(lines[number + 1].startswith(" ") for number in names)


def test_tasks_hooks_and_workflow_run_the_same_checks():
    lint = (ROOT / "scripts" / "lint").read_text("utf-8")
    tasks = (ROOT / "justfile").read_text("utf-8")
    hooks = [hook["entry"] for repository in HOOKS["repos"] for hook in repository["hooks"]]
    assert [entry for entry in hooks if entry.split(" -")[0].split(" tests")[0] not in lint + tasks] == []
    assert "\nbash scripts/lint\n" in (ROOT / "scripts" / "test").read_text("utf-8")
    assert commands("lint")[-1] == "bash scripts/lint"
    assert commands("full")[-1] == "bash scripts/test"
    assert commands("quick")[-1].startswith('pytest -m "not slow"')


def test_hooks_use_installed_tools_only():
    assert [repository["repo"] for repository in HOOKS["repos"]] == ["local"]
    assert {hook["language"] for repository in HOOKS["repos"] for hook in repository["hooks"]} == {"unsupported"}


def test_actions_are_pinned_to_commits():
    used = [step["uses"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each)] == []


def test_every_classified_version_is_tested_by_the_workflow():
    tested = set(WORKFLOW["jobs"]["quick"]["strategy"]["matrix"]["python"])
    classified = set(re.findall(r"Python :: (\d\.\d+)", "\n".join(PROJECT["classifiers"])))
    assert classified <= tested
    assert PROJECT["requires-python"].removeprefix(">=") in classified


def test_publishing_waits_for_every_other_job_and_for_public_addresses():
    publish = WORKFLOW["jobs"]["publish"]
    assert {*publish["needs"], "publish"} == set(WORKFLOW["jobs"])
    assert "refs/tags/v" in publish["if"]
    assert publish["permissions"] == {"id-token": "write"}
    assert any(RESERVED.replace(".", r"\.") in command for command in commands("publish"))


def test_dependency_groups_are_complete():
    assert "dev" not in PROJECT["optional-dependencies"]
    included = {each["include-group"] for group in GROUPS.values() for each in group if isinstance(each, dict)}
    assert included <= set(GROUPS)
    files = ("scripts/test", "scripts/long-run", "justfile", ".github/workflows/ci.yml", "CONTRIBUTING.md")
    said = [word for name in files for word in re.findall(r"--group\"?,? \"?(\w+)", (ROOT / name).read_text("utf-8"))]
    assert {"dev", "lint", "release", "test"} <= set(said) <= set(GROUPS)


@pytest.mark.parametrize("group", ["docs", "lint", "release", "test"])
def test_a_tool_is_required_alike_in_every_group(group):
    required = {Requirement(each).name: each for others in GROUPS.values() for each in others if isinstance(each, str)}
    assert [each for each in GROUPS[group] if isinstance(each, str) and required[Requirement(each).name] != each] == []


def test_the_version_is_that_of_the_installed_package():
    assert sfumato.__version__ == metadata.version("sfumato")
    assert PROJECT["dynamic"] == ["version"]


def test_the_citation_names_the_software_as_the_package_does():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"].lower() == PROJECT["name"]
    assert citation["license"] == PROJECT["license"]
    assert "version" not in citation  # a version that is written by hand is soon an old one


def test_news_fragments_are_named_by_issue_and_type():
    assert tuple(each["directory"] for each in LISTED["tool"]["towncrier"]["type"]) == TYPES
    names = [path.name for path in (ROOT / "changes").iterdir() if path.name not in {"README.md", ".gitignore"}]
    assert [name for name in names if not NEWS.fullmatch(name)] == []
    assert LISTED["tool"]["towncrier"]["start_string"].strip() in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission")
@pytest.mark.parametrize("name", ["freeze", "lint", "long-run", "test"])
def test_scripts_can_be_run(name):
    assert os.access(ROOT / "scripts" / name, os.X_OK)
