"""The client: only agreed reports leave it, budgets compose and survive restarts, and refusals tell nothing."""

from __future__ import annotations

import json
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import InfeasibleError, InvalidParameterError, ReadError, RecipeError, SchemaError, WriteError
from sfumato.local_dp import client as client_module
from sfumato.local_dp._exact_sampling import ExactSampler
from sfumato.local_dp.client import LocalClient
from sfumato.local_dp.configuration import MECHANISMS, load_mechanism, mechanism_from_config
from sfumato.local_dp.mechanisms.base import simulate_reports
from sfumato.local_dp.mechanisms.generalized_randomized_response import GeneralizedRandomizedResponse
from sfumato.local_dp.mechanisms.optimized_unary_encoding import OptimizedUnaryEncoding
from sfumato.local_dp.mechanisms.piecewise_mean import PiecewiseMean
from sfumato.local_dp.mechanisms.rappor import RAPPOR
from sfumato.local_dp.randomization.randomized_response import RandomizedResponse
from sfumato.local_dp.server import LocalServer

CANARY = "canary-value"
AGREEMENTS = {
    "grr": {"epsilon": 1, "values": ["a", "b", "c"]},
    "oue": {"epsilon": 1, "values": list("abcdefghij")},
    "olh": {"epsilon": 1, "values": ["a", "b", "c"]},
    "rappor": {"values": ["a", "b", "c"]},
    "succinct-histogram": {"epsilon": 1, "values": ["a", "b", "c"]},
    "duchi": {"epsilon": 1, "low": 0, "high": 10},
    "piecewise": {"epsilon": 1, "low": 0, "high": 10},
}


@pytest.fixture
def grr() -> GeneralizedRandomizedResponse:
    return GeneralizedRandomizedResponse(epsilon=0.1, values=["a", "b"])


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_client_of_every_mechanism_sends_what_its_server_takes(name):
    mechanism = mechanism_from_config({"mechanism": name, **AGREEMENTS[name]})
    server = LocalServer(mechanism)
    for _ in range(5):
        report = LocalClient(mechanism, budget=5).report(4.5 if "low" in AGREEMENTS[name] else "b")
        assert all(type(number) is int for number in report)
        assert json.loads(json.dumps(report)) == report
        server.add(report)
    assert server.reports == 5
    server.estimate()


def test_reports_compose_in_exact_decimals(grr):
    client = LocalClient(grr, budget=0.3)
    for _ in range(3):
        client.report("a")
    assert client.remaining == 0
    with pytest.raises(InfeasibleError, match=r"above its budget of 0\.3; nothing was sent"):
        client.report("a")
    assert client.spent == pytest.approx(0.3)


def test_a_budget_below_one_report_refuses_the_first(grr):
    with pytest.raises(InfeasibleError, match="nothing was sent"):
        LocalClient(grr, budget=0.05).report("a")


def test_what_was_spent_survives_a_restart(grr, tmp_path):
    state = tmp_path / "client.json"
    LocalClient(grr, budget=0.2, state=state).report("a")
    again = LocalClient(grr, budget=0.2, state=state)
    assert again.spent == pytest.approx(0.1)
    again.report("b")
    with pytest.raises(InfeasibleError):
        LocalClient(grr, budget=0.2, state=state).report("a")


def test_the_permanent_response_survives_a_restart(tmp_path):
    rappor = RAPPOR(values=["a", "b"])
    state = tmp_path / "client.json"
    first = LocalClient(rappor, budget=9, state=state)
    first.report("a")
    again = LocalClient(rappor, budget=9, state=state)
    kept = first._refresh().memories
    again.report("b")
    assert [each.kept for each in again._refresh().memories.values()] == [each.kept for each in kept.values()]
    assert again.spent == pytest.approx(rappor.epsilon_after(2))


def test_spending_is_written_before_the_report_is_made(grr, tmp_path, monkeypatch):
    state = tmp_path / "client.json"

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(GeneralizedRandomizedResponse, "report_once", crash)
    with pytest.raises(KeyboardInterrupt):
        LocalClient(grr, budget=0.1, state=state).report("a")
    monkeypatch.undo()
    with pytest.raises(InfeasibleError):
        LocalClient(grr, budget=0.1, state=state).report("a")


def test_clients_that_share_a_state_share_its_budget(grr, tmp_path):
    state = tmp_path / "client.json"
    clients = [LocalClient(grr, budget=0.5, state=state) for _ in range(12)]

    def tried(client: LocalClient) -> bool:
        try:
            return bool(client.report("a"))
        except InfeasibleError:
            return False

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(tried, clients)) == 5
    assert clients[0].remaining == 0


def test_a_state_that_cannot_be_locked_sends_nothing(grr, tmp_path):
    with pytest.raises(WriteError, match="nothing was sent"):
        LocalClient(grr, budget=1, state=tmp_path / "absent" / "client.json").report("a")


def test_the_state_tells_no_value_and_is_for_its_owner_only(tmp_path):
    state = tmp_path / "client.json"
    LocalClient(RAPPOR(values=[CANARY, "b"]), budget=9, state=state).report(CANARY)
    assert CANARY not in state.read_text()
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(state).st_mode) == 0o600  # noqa: PTH116 - the mode alone


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"format": 3}',
        '{"format": 3, "budget": "1", "mechanisms": {"x": {"reports": 0, "kept": []}}}',
    ],
)
def test_a_damaged_state_is_refused_and_not_started_anew(grr, tmp_path, content):
    state = tmp_path / "client.json"
    state.write_text(content)
    with pytest.raises(ReadError, match="nobody knows what was spent"):
        LocalClient(grr, budget=1, state=state)


def test_a_state_with_impossible_counts_is_refused(grr, tmp_path):
    state = tmp_path / "client.json"
    LocalClient(grr, budget=1, state=state).report("a")
    content = json.loads(state.read_text())
    for wrong in ({"reports": -5}, {"reports": True}, {"kept": ["a"]}, {"kept": [-1]}, {"loss": "-1"}, {"loss": "1/0"}):
        mechanisms = {name: {**each, **wrong} for name, each in content["mechanisms"].items()}
        state.write_text(json.dumps({**content, "mechanisms": mechanisms}))
        with pytest.raises(ReadError, match="not a valid client state"):
            LocalClient(grr, budget=1, state=state)


def test_reports_by_several_mechanisms_share_one_budget(grr, tmp_path):
    state = tmp_path / "client.json"
    LocalClient(grr, budget=0.25, state=state).report("a")
    other = LocalClient(OptimizedUnaryEncoding(epsilon=0.1, values=["a", "b"]), budget=0.25, state=state)
    other.report("b")
    assert other.spent == LocalClient(grr, budget=0.25, state=state).spent == 0.2
    for client in (other, LocalClient(grr, budget=0.25, state=state)):
        with pytest.raises(InfeasibleError, match=r"to 0\.3, above its budget of 0\.25"):
            client.report("a")


def test_nobody_raises_the_budget_of_a_state(grr, tmp_path):
    state = tmp_path / "client.json"
    client = LocalClient(grr, budget=0.1, state=state)
    client.report("a")
    with pytest.raises(InvalidParameterError, match=r"begun with a budget of 0\.1; give the same"):
        LocalClient(grr, budget=100, state=state)
    assert client.remaining == 0


@pytest.mark.slow
def test_another_period_has_a_memory_of_its_own_and_costs_again(tmp_path):
    state = tmp_path / "client.json"
    rappors = [RAPPOR(values=["a", "b"], bits=62, cohorts=10**6, period=period) for period in ("2025", "2026")]
    for rappor in rappors:
        LocalClient(rappor, budget=99, state=state).report("a")
    memories = json.loads(state.read_text())["mechanisms"].values()
    assert len({tuple(each["kept"]) for each in memories}) == 2
    assert LocalClient(rappors[0], budget=99, state=state).spent == pytest.approx(2 * rappors[0].epsilon)


class Unreadable:
    """A value that fails at whatever is done with it."""

    def __len__(self):
        raise RuntimeError(CANARY)

    __float__ = __str__ = __repr__ = __eq__ = __hash__ = __len__


ODD = [CANARY, "\ud800", "", None, 7, 2**80, float("nan"), float("inf"), -1, [], {}, b"\xff", Unreadable(), pa.NULL]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("name", MECHANISMS)
def test_whatever_a_value_is_a_report_of_it_is_sent_and_paid(name, value, tmp_path, capfd):
    """Silence, a refusal or another price would tell that the value is a strange one."""
    mechanism = mechanism_from_config({"mechanism": name, **AGREEMENTS[name]})
    usual = 4.5 if "low" in AGREEMENTS[name] else "b"
    clients = [LocalClient(mechanism, budget=100, state=tmp_path / f"{at}.json") for at in range(3)]
    for given in (value, usual):
        reports = [clients[0].report(usual), clients[1].report(given), clients[2].report(value)]
        LocalServer(mechanism).add(reports)
    assert len({client.spent for client in clients}) == 1
    assert clients[0].spent == pytest.approx(float(mechanism.privacy_loss(2)))
    assert tuple(capfd.readouterr()) == ("", "")
    shapes = [sorted(json.loads((tmp_path / f"{at}.json").read_text())["mechanisms"]) for at in range(3)]
    assert shapes[0] == shapes[1] == shapes[2]


def test_a_value_outside_the_domain_is_any_of_it_and_a_number_outside_is_clipped():
    exact = GeneralizedRandomizedResponse(epsilon=40, values=["a", "b", "c", "d"])
    sent = simulate_reports(exact, [CANARY, None] * 2000 + ["a"] * 4000, secret="5f" * 32)[:, 0]
    assert np.bincount(sent[:4000]).min() > 850
    assert (sent[4000:] == 0).all()
    mean = PiecewiseMean(epsilon=1, low=0, high=10)
    read = pa.array([-3.0, 0, 5, 10, 99, 1e9, None, 5, 2.5])
    for column in ([-3, 0, 5, 10, 99, float("inf"), None, "x", "2.5"], read):
        found = mean.encode(column, ExactSampler())
        assert found.tolist() == [-1, -1, 0, 1, 1, 1, 0, 0, -0.5]


@pytest.mark.parametrize("values", [[None, "a"], [float("nan"), "a"], ["a", [1]]])
def test_a_missing_value_is_none_of_a_domain(values):
    for kind in (GeneralizedRandomizedResponse, OptimizedUnaryEncoding):
        with pytest.raises(InvalidParameterError, match="at least two different values, none of them missing"):
            kind(epsilon=1, values=values)
    with pytest.raises(InvalidParameterError, match="none of them missing"):
        RAPPOR(values=values)
    with pytest.raises(InvalidParameterError, match="none of them missing"):
        RandomizedResponse(values=values, truth=0.5)


def test_reports_by_rappor_cost_the_same_whether_values_change_or_not():
    """With a price for every new value, the number of reports until silence told how often a value changed."""
    values = [str(number) for number in range(60)]
    sent = []
    for reported in (["0"] * 60, values, [CANARY] * 60):
        client = LocalClient(RAPPOR(values=values), budget=4.2)
        reports = 0
        with suppress(InfeasibleError):
            for value in reported:
                client.report(value)
                reports += 1
        sent.append(reports)
    assert 60 > sent[0] == sent[1] == sent[2] > 1


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), 41, "1", True])
def test_epsilons_that_are_none_are_refused(epsilon):
    with pytest.raises(InvalidParameterError, match="epsilon must be a positive number"):
        GeneralizedRandomizedResponse(epsilon=epsilon, values=["a", "b"])


@pytest.mark.parametrize("bounds", [{"low": 0, "high": None}, {"low": None, "high": 1}, {"low": 1, "high": 1}])
def test_means_without_public_bounds_are_refused(bounds):
    with pytest.raises(InvalidParameterError, match="must be a public bound"):
        PiecewiseMean(epsilon=1, **bounds)


@pytest.mark.parametrize("values", [["a"], ["a", "a"], [1, 1.0], "ab", None])
def test_domains_that_are_none_are_refused(values):
    with pytest.raises(InvalidParameterError, match="at least two different values"):
        GeneralizedRandomizedResponse(epsilon=1, values=values)


@pytest.mark.parametrize("budget", [0, -1, float("inf"), None])
def test_budgets_that_are_none_are_refused(grr, budget):
    with pytest.raises(InvalidParameterError, match="budget must be a positive number"):
        LocalClient(grr, budget=budget)


@pytest.mark.parametrize("reports", [[[2]], [[-1]], [["a"]], [[0, 1]], [[0.5]], None, [[[0]]]])
def test_reports_that_no_client_sends_are_refused_and_none_is_counted(grr, reports):
    server = LocalServer(grr)
    with pytest.raises(SchemaError, match="reports"):
        server.add(reports)
    assert server.reports == 0


def test_bits_beyond_the_domain_are_no_report():
    mechanism = OptimizedUnaryEncoding(epsilon=1, values=list(range(10)))
    LocalServer(mechanism).add([[255, 192]])
    with pytest.raises(SchemaError, match="byte_2"):
        LocalServer(mechanism).add([[255, 193]])


def test_a_client_draws_from_the_operating_system(grr, monkeypatch):
    asked = []
    source = client_module.ExactSampler
    monkeypatch.setattr(client_module, "ExactSampler", lambda *seed: asked.append(seed) or source(*seed))
    LocalClient(grr, budget=1).report("a")
    assert asked == [()]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "needs mechanism"),
        ({"mechanism": "our"}, "did you mean 'oue'"),
        ({"mechanism": "oue", "epsilon": 1}, "misses or mistypes one of"),
        ({"mechanism": "oue", "epsilom": 1, "values": ["a", "b"]}, "did you mean 'epsilon'"),
    ],
)
def test_agreements_that_are_none_are_refused(content, message):
    with pytest.raises(RecipeError, match=message):
        mechanism_from_config(content)


def test_agreement_files_are_read(tmp_path):
    path = tmp_path / "agreement.toml"
    path.write_text('mechanism = "oue"\nepsilon = 1\nvalues = ["a", "b"]\n', "utf-8")
    assert load_mechanism(path) == OptimizedUnaryEncoding(epsilon=1, values=["a", "b"])
