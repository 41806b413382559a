"""`sfumato collect`: perturb and reconstruct, report and estimate, and refusals."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner

import sfumato as sf
from sfumato._randomness import secret_from_seed as fixed
from sfumato.cli import local_dp
from sfumato.cli._errors import ErrorHandlingGroup

NOISE = "uniform:-20,20"
AGREEMENT = 'mechanism = "oue"\nepsilon = 1.0\nvalues = ["a", "b", "c"]\n'


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sf.write(sf.datasets.generate_hospital(3000, seed=11), tmp_path / "patients.csv")
    outer = typer.Typer(cls=ErrorHandlingGroup, rich_markup_mode=None)
    outer.add_typer(local_dp.app, name="collect")
    outer.command("other")(lambda: None)

    def run(*arguments: object, standard_input: str | None = None):
        return CliRunner().invoke(outer, ["collect", *map(str, arguments)], input=standard_input)

    return run


def test_what_is_perturbed_is_reconstructed(ask, tmp_path):
    sent = ask("perturb", "patients.csv", "--noise", f"age={NOISE}", "--keep", "sex", "--out", "sent.csv")
    assert sent.exit_code == 0, sent.stderr
    assert "3,000 perturbed records are in sent.csv" in sent.stdout
    assert sf.read(tmp_path / "sent.csv").column_names == ["age", "sex"]
    low, high = (float(end) for end in NOISE.removeprefix("uniform:").split(","))
    patients = sf.read(tmp_path / "patients.csv")
    sf.write(
        sf.local_dp.perturb_columns(patients, {"age": sf.local_dp.UniformNoise(low=low, high=high)}, secret=fixed(1)),
        tmp_path / "sent.csv",
    )
    options = ["--column", "age", "--noise", NOISE, "--edges", "-10:110:20"]
    result = ask("reconstruct", "sent.csv", *options, "--bands", "--picture", "age.svg")
    assert result.exit_code == 0, result.stdout + result.stderr
    assert "Reconstruction of 6 cells from 3,000 observations" in result.stdout
    assert (tmp_path / "age.svg").read_text("utf-8").startswith("<svg")
    facts = json.loads(ask("reconstruct", "sent.csv", *options, "--json").stdout)
    ages = np.asarray(sf.read(tmp_path / "patients.csv").column("age"))
    truth = np.histogram(ages, np.linspace(-10, 110, 7))[0] / 3000
    assert np.abs(np.array(facts["shares"]) - truth).sum() < 0.25
    assert facts["converged"] is True


def test_a_plan_and_options_say_together_what_happens(ask, tmp_path):
    (tmp_path / "plan.toml").write_text('[cost]\nnoise = "gaussian"\nscale = 500\n', "utf-8")
    values = ",".join(sf.read(tmp_path / "patients.csv").column("sex").unique().to_pylist())
    sent = ask(
        "perturb", "patients.csv", "--plan", "plan.toml", "--response", f"sex=0.9:{values}", "--out", "s.parquet"
    )
    assert sent.exit_code == 0, sent.stderr
    assert set(sf.read(tmp_path / "s.parquet").column_names) == {"cost", "sex"}
    found = ask("reconstruct", "s.parquet", "--column", "sex", "--response", f"0.9:{values}", "--method", "inversion")
    assert found.exit_code == 0, found.stderr


def test_an_ill_posed_problem_is_answered_with_code_1(ask, tmp_path):
    sf.write(pa.table({"z": np.random.default_rng(1).random(2000)}), tmp_path / "z.csv")
    result = ask("reconstruct", "z.csv", "--column", "z", "--noise", "uniform:0,1", "--edges", "0:1:0.1")
    assert result.exit_code == 1
    assert "ill-posed: The observations of 'z' spread no more than the noise alone" in result.stdout


def test_clients_report_until_their_budget_is_spent(ask, tmp_path):
    (tmp_path / "agreement.toml").write_text(AGREEMENT, "utf-8")
    options = ["--agreement", "agreement.toml", "--budget", 2, "--state", "me.json"]
    for _ in range(2):
        result = ask("report", *options, standard_input="b\n")
        assert result.exit_code == 0, result.stderr
        assert 0 <= int(result.stdout) < 256
    refused = ask("report", *options, standard_input="b\n")
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert "above its budget of 2; nothing was sent" in refused.stderr


def test_reports_of_means_are_made_of_numbers(ask, tmp_path):
    (tmp_path / "agreement.toml").write_text('mechanism = "duchi"\nepsilon = 1.0\nlow = 0\nhigh = 9\n', "utf-8")
    options = ["--agreement", "agreement.toml", "--budget", 9, "--state", "me.json"]
    assert ask("report", *options, standard_input="4.5").stdout.strip() in {"0", "1"}
    for odd in ("canary\n", "", "99\n", b"\xff\n", "nan\n"):
        sent = ask("report", *options, standard_input=odd)
        assert (sent.exit_code, sent.stderr, sent.stdout.strip() in {"0", "1"}) == (0, "", True)
    assert json.loads((tmp_path / "me.json").read_text())["mechanisms"].popitem()[1]["loss"] == "6"


@pytest.mark.parametrize("mechanism", ["oue", "olh", "grr"])
def test_randomized_rows_are_estimated(ask, tmp_path, mechanism):
    (tmp_path / "agreement.toml").write_text(AGREEMENT.replace("oue", mechanism), "utf-8")
    sf.write(pa.table({"v": ["a"] * 3000 + ["b"] * 1000}), tmp_path / "v.csv")
    made = ask("randomize", "v.csv", "--column", "v", "--agreement", "agreement.toml", "--out", "reports.csv")
    assert made.exit_code == 0, made.stderr
    found = ask("estimate", "reports.csv", "--agreement", "agreement.toml", "--consistent", "--json")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)
    assert facts["step"] == "norm-sub"
    # Chance is the operating system's: 700 are 6 standard errors of the least precise mechanism.
    assert abs(facts["values"][0]["count"] - 3000) < 700
    assert "4,000 reports, unbiased" in ask("estimate", "reports.csv", "--agreement", "agreement.toml").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["perturb", "patients.csv", "--out", "s.csv"], "There is no column to perturb"),
        (["perturb", "patients.csv", "--noise", "age", "--out", "s.csv"], "COLUMN=HOW"),
        (["perturb", "patients.csv", "--noise", "agee=gaussian:1", "--out", "s.csv"], "did you mean 'age'"),
        (["perturb", "patients.csv", "--noise", "age=gaussian:-1", "--out", "s.csv"], "a positive number"),
        (["perturb", "patients.csv", "--noise", "age=gaussian:1", "--out", "patients.csv"], "exists"),
        (["reconstruct", "patients.csv", "--column", "age"], "--noise or --response"),
        (["reconstruct", "patients.csv", "--column", "age", "--noise", NOISE], "edges must be"),
        (["reconstruct", "patients.csv", "--column", "age", "--noise", NOISE, "--edges", "0:1"], "LOW:HIGH:WIDTH"),
        (["reconstruct", "patients.csv", "--column", "age", "--noise", NOISE, "--edges", "0:1:0"], "LOW:HIGH:WIDTH"),
        (["reconstruct", "patients.csv", "--column", "age", "--noise", NOISE, "--edges", "0:1:1e-9"], "bins"),
        (["estimate", "patients.csv", "--agreement", "absent.toml"], "cannot be read"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(ask, arguments, message):
    result = ask(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
