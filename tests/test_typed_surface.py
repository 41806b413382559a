"""What a user's editor says: correct programs pass mypy and pyright, and every mistake is found on its line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
TEN_LINES = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.xdist_group("type-checkers")

CORRECT = """
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

people = pd.DataFrame({"age": [30, 40], "job": ["judge", "clerk"]})
schema = sf.Schema(quasi_identifiers=["age", "job"], scales={"age": "numeric"}, missing="matches-all")
flagged, schema = sf.mark_sensitive_cells(people, schema, rules={"age": (">=", 65), "job": ["judge"]})
promises: list[sf.models.GroupModel] = [sf.models.KAnonymity(k=2), sf.models.TCloseness(t=0.2, sensitive="job")]
search: sf.algorithms.TableAlgorithm = sf.algorithms.Optimal()
made: sf.Release = sf.anonymize(flagged, schema, models=promises, algorithm=search, max_suppressed=0)
made.write(Path("made"))
audit: sf.Audit = sf.audit(pl.DataFrame({"age": [1]}), schema, promises, original=pl.LazyFrame({"age": [1]}))
smallest: float = audit.level("k-anonymity")
models: object = audit.to_dict()["models"][0]
found = sf.attack(made.frame, schema, [sf.attacks.Linkage()], known=people, correspondence=made.correspondence)
worst: float = max(result.rate for result in found)
risk = sf.assess_risk(people, schema, population=10_000)
proposed: sf.Schema = sf.inspect(people).schema()
noise = sf.local_dp.UniformNoise(low=-20, high=20)
sent = noise.perturb(np.array([30.0, 40.0]), secret="5f" * 32)
noise.perturb(people["age"])
shares = sf.local_dp.reconstruct(sent, noise, edges=[0, 20, 40, 60], method="em").shares
client = sf.local_dp.LocalClient(sf.local_dp.RAPPOR(values=["flu", "cold"]), budget=2)
reported: list[int] = client.report("flu")
query = sf.queries.Query(kind="sum", over="age", where={"job": "clerk"})
answer = sf.queries.estimate(made.frame, schema, query)
bounds: tuple[float, float] = (answer.lower, answer.upper)
rules = sf.mining.mine_rules([["bread", "milk"], ["bread"]], support=1, confidence=0.5)
condensed = sf.synthesis.Condensation(k=2).fit(people, schema)
solutions = sf.explore(people, schema, models=promises).filter(status="anonymous")
kept, held_out = sf.metrics.hold_out(people, share=0.5)
tree: sf.hierarchies.HierarchyBuilder = sf.hierarchies.Taxonomy({"any": ["judge", "clerk"]})
party = sf.fusion.Party(name="a", data=people, id="job", attributes=["age"])
drawn: str = sf.report.draw_attack_rates(found)
again = sf.run_recipe(sf.Recipe.read("recipe.toml"), sf.read("patients.csv"))
try:
    sf.write(people, Path("nowhere") / "people.csv")
except sf.errors.WriteError as error:
    sentence = str(error)
"""

MISTAKES = """
import sfumato as sf
from sfumato.models import KAnonimity  # wrong

data = sf.read("patients.csv")
schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
release = sf.anonymize(data, schema, models=[sf.models.KAnonymity(k=5)], algorithm=sf.algorithms.Mondrian())
sf.models.KAnonymity(kk=5)  # wrong
sf.models.KAnonymity(k="five")  # wrong
sf.models.KAnonymity(5)  # wrong
sf.anonymise(data, schema)  # wrong
sf.queries.PrivatTable  # wrong
sf.attacks.Linkag()  # wrong
sf.datasets.generate_hospital("many")  # wrong
sf.read(5)  # wrong
sf.anonymize(5, schema, models=[sf.models.KAnonymity(k=5)])  # wrong
sf.anonymize(data, schema, models=sf.models.KAnonymity(k=5))  # wrong
sf.anonymize(data, schema, models=[sf.algorithms.Mondrian()])  # wrong
sf.anonymize(data, schema, models=[sf.models.KAnonymity(k=5)], algorithm=sf.algorithms.Mondrian)  # wrong
sf.anonymize(data, schema, models=[sf.models.KAnonymity(k=5)], suppressed=0.1)  # wrong
sf.Schema(quazi=["age"])  # wrong
sf.Schema(quasi_identifiers=["age"], hierarchies={"age": 5})  # wrong
sf.Schema(quasi_identifiers=["age"], scales={"age": "number"})  # wrong
sf.Schema(quasi_identifiers=["age"], missing="ignored")  # wrong
sf.hierarchies.Intervals([5, 10])  # wrong
sf.mark_sensitive_cells(data, schema, rules={"age": ("=>", 65)})  # wrong
sf.queries.Query(kind="median")  # wrong
sf.audit({"age": [30]}, schema)  # wrong
sf.attack(data, schema, known=data, correspondence="as it stands")  # wrong
sf.assess_risk(data, schema, population="Germany")  # wrong
sf.local_dp.UniformNoise(low=-20, hi=20)  # wrong
sf.local_dp.simulate_reports(sf.local_dp.RAPPOR(values=["flu", "cold"]), 5)  # wrong
sf.local_dp.reconstruct([1.0], sf.local_dp.GaussianNoise(scale=1), method="guess")  # wrong
sf.mining.mine_rules(5, support=1, confidence=0.5)  # wrong
release.write(5)  # wrong
release.audit.level(5)  # wrong
release.audit.holds()  # wrong
release.audits  # wrong
release.metrics["loss"].upper()  # wrong
release.metrics[0]  # wrong
schema.quasi_identifiers = ["zip"]  # wrong
"""

Found = dict[str, dict[int, list[str]]]


def run(command: list[str], **environment: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own interpreter and the checkers that are installed with it
        [sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    assert done.returncode in {0, 1}, done.stderr + done.stdout
    return done.stdout


def by_mypy(folder: Path) -> Found:
    """Run mypy as the project does: strictly, and with its cache, which the check of the project has filled."""
    files = [str(path) for path in sorted(folder.glob("*.py"))]
    found: Found = {}
    for line in run(["mypy", "--output", "json", *files], MYPYPATH="src").splitlines():
        report = json.loads(line)
        found.setdefault(Path(report["file"]).name, {}).setdefault(report["line"], []).append(report["message"])
    return found


def by_pyright(folder: Path) -> Found:
    """Run pyright strictly, but for types that are unknown: Arrow says nothing about its own."""
    settings = {
        "extraPaths": [str(SOURCE)],
        "pythonVersion": "3.11",
        "typeCheckingMode": "strict",
        "reportUnknownArgumentType": False,
        "reportUnknownMemberType": False,
        "reportUnknownVariableType": False,
        "reportUnusedExpression": False,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    said = run(["pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(folder)])
    found: Found = {}
    for report in json.loads(said)["generalDiagnostics"]:
        line = report["range"]["start"]["line"] + 1
        found.setdefault(Path(report["file"]).name, {}).setdefault(line, []).append(report["message"])
    return found


@pytest.fixture(scope="module", params=[by_mypy, by_pyright], ids=["mypy", "pyright"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Check both programs at once."""
    check: Callable[[Path], Found] = request.param
    folder = tmp_path_factory.mktemp("programs")
    assert TEN_LINES is not None
    (folder / "correct.py").write_text(TEN_LINES[1] + CORRECT, "utf-8")
    (folder / "mistakes.py").write_text(MISTAKES, "utf-8")
    return check(folder)


@pytest.mark.slow
def test_a_correct_program_passes(found):
    assert found.get("correct.py", {}) == {}


@pytest.mark.slow
def test_every_mistake_is_found_on_its_line(found):
    planted = {number for number, line in enumerate(MISTAKES.splitlines(), 1) if line.endswith("# wrong")}
    assert len(planted) > 30
    reported = found["mistakes.py"]
    missed = [MISTAKES.splitlines()[number - 1] for number in sorted(planted - set(reported))]
    assert missed == []
    assert {number: said for number, said in reported.items() if number not in planted} == {}
