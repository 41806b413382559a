"""The explored lattice as data: it agrees with publishing every node, and can be filtered, drawn and applied."""

from __future__ import annotations

import json
import pickle
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError, UnsupportedModelError
from sfumato.report.charts.scatter import ScatterLabels
from sfumato.tables.algorithms.full_domain._lattice import NodeStatus

SVG = "{http://www.w3.org/2000/svg}"
SHAPE = (4, 3, 2)
NAMES = ("age", "zip", "sex")


def people(rows=120, seed=3):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "zip": rng.choice(["53711", "53712", "53799", "90210", "90211"], rows),
            "sex": rng.choice(["f", "m"], rows),
            "disease": rng.choice(["flu", "cold", "ulcer"], rows, p=[0.6, 0.3, 0.1]),
        }
    )


@pytest.fixture(scope="module")
def table():
    return people()


@pytest.fixture(scope="module")
def schema():
    hierarchies = {"age": sf.hierarchies.Intervals(10, 20), "zip": sf.hierarchies.Prefixes(2)}
    return sf.Schema(quasi_identifiers=list(NAMES), sensitive=["disease"], hierarchies=hierarchies)


MODELS = {
    "k": [sf.models.KAnonymity(k=6)],
    "l": [sf.models.KAnonymity(k=3), sf.models.DistinctLDiversity(l=3, sensitive="disease")],
    "t": [sf.models.TCloseness(t=0.3, sensitive="disease")],
}


@pytest.fixture(scope="module")
def solutions(table, schema):
    return sf.explore(table, schema, MODELS["k"], max_suppressed=0.05)


def published_nodes(table, schema, models, max_suppressed):
    """Publish every node by itself, and give the measures of those for which that is allowed."""
    found = {}
    for levels in product(*map(range, SHAPE)):
        algorithm = sf.algorithms.FixedLevels(levels=dict(zip(NAMES, levels, strict=True)))
        try:
            found[levels] = sf.anonymize(table, schema, models, algorithm, max_suppressed=max_suppressed)
        except InfeasibleError:
            continue
    return found


@pytest.mark.parametrize(("kind", "max_suppressed"), [("k", 0), ("k", 0.05), ("l", 0.05), ("t", 0.05), ("t", 1)])
def test_every_node_is_what_publishing_it_says(table, schema, kind, max_suppressed):
    releases = published_nodes(table, schema, MODELS[kind], max_suppressed)
    found = sf.explore(table, schema, MODELS[kind], max_suppressed=max_suppressed)
    rows = found.table().to_pylist()
    assert len(rows) == len(found) == np.prod(SHAPE)
    solutions = {tuple(row[name] for name in NAMES): row for row in rows if row["status"] == "anonymous"}
    assert set(solutions) == set(releases)
    assert {row["status"] for row in rows} <= {"anonymous", "not anonymous"}
    for levels, row in solutions.items():
        release = releases[levels]
        assert row["bound"] <= release.metrics["loss"] + 1e-9
        assert row["height"] == sum(levels)
        if row["loss"] is not None:
            assert row["loss"] == pytest.approx(release.metrics["loss"])
            assert row["suppressed"] == release.suppressed
    assert found.best.loss == pytest.approx(min(release.metrics["loss"] for release in releases.values()))
    assert found.proven


@pytest.mark.parametrize("models", MODELS.values(), ids=MODELS)
def test_minimal_solutions_are_above_no_other_solution(table, schema, models):
    found = sf.explore(table, schema, models, max_suppressed=0.05)
    rows = found.filter(status="anonymous").table().select(NAMES).to_pylist()
    nodes = [tuple(row.values()) for row in rows]
    expected = {n for n in nodes if not any(o != n and all(a <= b for a, b in zip(o, n, strict=True)) for o in nodes)}
    assert {tuple(node.levels.values()) for node in found.minimal} == expected
    assert found.explored.minimal() == expected
    losses = [node.bound for node in found.minimal]
    assert losses == sorted(losses)


def test_exhaustive_search_gives_the_loss_of_every_solution(table, schema, solutions):
    every = sf.explore(table, schema, MODELS["k"], sf.algorithms.MinGen(loss="loss"), max_suppressed=0.05)
    assert every.counts() == solutions.counts()
    assert None not in every.filter(status="anonymous").table()["loss"].to_pylist()
    assert every.best.levels == solutions.best.levels


@pytest.mark.parametrize(
    "algorithm", [sf.algorithms.Samarati(), sf.algorithms.Incognito(), sf.algorithms.Optimal(loss="discernibility")]
)
def test_all_searches_over_full_domain_recodings_can_be_explored(table, schema, solutions, algorithm):
    found = sf.explore(table, schema, MODELS["k"], algorithm, max_suppressed=0.05)
    assert {tuple(node.levels.values()) for node in found.minimal} == {
        tuple(node.levels.values()) for node in solutions.minimal
    }
    assert found.best.status == "anonymous"


def test_the_best_node_says_what_it_is(solutions):
    best = solutions.best
    assert best.status == "anonymous"
    assert list(best.levels) == list(NAMES)
    assert best.height == sum(best.levels.values())
    assert best.bound == best.loss
    assert pickle.loads(pickle.dumps(best)) == best  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    ("make", "kind"), [(pa.Table.to_pandas, pd.DataFrame), (pl.from_arrow, pl.DataFrame), (lambda t: t, pa.Table)]
)
def test_nodes_come_in_the_callers_kind_of_dataframe(table, schema, make, kind):
    data = make(table)
    if kind is pd.DataFrame:
        data["age"] = data["age"].astype("category")
        data.index = range(1000, 1120)
    frame = sf.explore(data, schema.select_quasi_identifiers(), MODELS["k"]).frame
    assert isinstance(frame, kind)
    columns = list(frame.column_names if kind is pa.Table else frame.columns)
    assert columns == [*NAMES, "status", "loss", "bound", "suppressed", "height"]
    if kind is pd.DataFrame:
        assert frame["age"].dtype == "int64"
        assert frame.index.tolist() == list(range(24))


def test_columns_of_nodes_keep_apart_from_attributes_of_the_same_name(table):
    renamed = table.select(["sex", "zip"]).rename_columns(["loss", "status"])
    found = sf.explore(renamed, sf.Schema(quasi_identifiers=["loss", "status"]), MODELS["k"])
    assert found.table().column_names[:4] == ["loss", "status", "status_of_node", "loss_of_node"]


def test_filters_keep_exactly_what_they_say(solutions):
    rows = pd.DataFrame(solutions.table().to_pylist())
    assert len(solutions.filter(status="anonymous")) == (rows["status"] == "anonymous").sum()
    limit = solutions.best.loss * 1.2
    assert len(solutions.filter(max_loss=limit)) == (rows["loss"] <= limit).sum() > 0
    assert len(solutions.filter(max_suppressed=0.01)) == (rows["suppressed"] <= 1).sum() > 0
    assert len(solutions.filter(levels={"age": 2, "sex": 0})) == ((rows["age"] == 2) & (rows["sex"] == 0)).sum() == 3
    both = solutions.filter(status="anonymous", levels={"age": 2})
    assert both.filter(max_loss=limit).table() == solutions.filter(max_loss=limit, levels={"age": 2}).table()


def test_suppression_is_filtered_as_a_share_of_the_records(table, schema):
    every = sf.explore(table, schema, MODELS["k"], sf.algorithms.MinGen(loss="loss"), max_suppressed=1)
    lost = np.array([number for number in every.table()["suppressed"].to_pylist() if number is not None])
    for share in (0, 0.05, 0.3, 1):
        assert len(every.filter(max_suppressed=share)) == np.count_nonzero(lost <= share * 120)
    assert len(np.unique(lost[lost <= 36])) > 2


def test_a_part_has_a_best_node_of_its_own(table, schema):
    every = sf.explore(table, schema, MODELS["k"], sf.algorithms.MinGen(loss="loss"), max_suppressed=0.05)
    other = every.filter(levels={"sex": 1 - every.best.levels["sex"]})
    losses = [loss for loss in other.table()["loss"].to_pylist() if loss is not None]
    assert other.best.loss == min(losses)
    assert every.filter(status="anonymous").best == every.best
    assert every.filter(status="not anonymous").best is None
    assert other.proven
    assert f"{len(other)} of {len(every)} nodes" in repr(other)


def test_any_solution_can_be_published(solutions):
    for node in (solutions.best, solutions.minimal[-1]):
        release = solutions.release(node)
        assert release.audit.holds
        assert release.suppressed == node.suppressed
        assert release.metrics["loss"] == pytest.approx(node.loss)
        assert release.recipe.algorithm == sf.algorithms.FixedLevels(levels=node.levels)
        assert release.recipe.max_suppressed == 0.05
    top = {"age": 3, "zip": 2, "sex": 1}
    assert set(solutions.release(top).published["age"].to_pylist()) == {"*"}


def test_what_is_no_solution_cannot_be_published(solutions):
    with pytest.raises(InfeasibleError):
        solutions.release({"age": 0, "zip": 0, "sex": 0})


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda s: s.filter(status="good"), "filter.status must be one of not anonymous, anonymous, bounded"),
        (lambda s: s.filter(max_loss="x"), "filter.max_loss must be a number"),
        (lambda s: s.filter(max_suppressed=2), r"filter.max_suppressed must be a share in \[0, 1\]"),
        (lambda s: s.filter(levels={"agee": 1}), "'agee', which is not a quasi-identifier; did you mean 'age'"),
        (lambda s: s.filter(levels={"age": 9}), "levels.age must be a whole number from 0 to 3; got 9"),
        (lambda s: s.filter(levels={"age": True}), "levels.age must be a whole number"),
        (lambda s: s.release({"age": 1}), "give the level of 'zip', 'sex' as well"),
        (lambda s: s.release("best"), "release.node must be a node"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(solutions, act, said):
    with pytest.raises(InvalidParameterError, match=said):
        act(solutions)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"algorithm": sf.algorithms.Mondrian()}, InvalidParameterError, "such as Optimal.*got Mondrian"),
        ({"algorithm": sf.algorithms.Optimal(refine=True)}, InvalidParameterError, "refine=False"),
        (
            {"algorithm": sf.algorithms.Optimal(loss="classification", target="zipp")},
            SchemaError,
            "guided by column .zipp.",
        ),
        ({"schema": sf.Schema(sensitive=["disease"])}, SchemaError, "no quasi-identifier"),
        ({"schema": sf.Schema(quasi_identifiers=["aeg"])}, SchemaError, "did you mean 'age'"),
        ({"models": []}, InvalidParameterError, "at least one model"),
        ({"models": [sf.models.KMap(k=3)]}, UnsupportedModelError, "population"),
        ({"models": [sf.models.KAnonymity(k=1000)]}, InfeasibleError, "No release of these 120 rows"),
        ({"max_suppressed": 1.5}, InvalidParameterError, "share"),
    ],
)
def test_what_cannot_be_explored_is_refused(table, schema, change, error, said):
    asked = {"schema": schema, "models": MODELS["k"], **change}
    with pytest.raises(error, match=said):
        sf.explore(table, **asked)


def test_a_class_to_predict_can_guide_the_loss(table, schema):
    found = sf.explore(table, schema, MODELS["k"], sf.algorithms.Optimal(loss="classification", target="disease"))
    assert found.best.loss is not None
    assert found.explored.proof.objective == "classification"


def test_no_solution_is_told_as_such(table, schema):
    models = [sf.models.TCloseness(t=0.0001, sensitive="disease"), sf.models.KAnonymity(k=100)]
    none = sf.explore(table, schema, models).filter(status="not anonymous")
    assert none.best is None
    assert none.minimal == []
    assert "best: no solution" in repr(none)


def test_solutions_of_unknown_loss_are_told_as_such(solutions):
    unjudged = replace(solutions.explored, loss=np.full(len(solutions), np.nan), best=None)
    found = replace(solutions, explored=unjudged).filter(status="anonymous")
    assert f"best: the loss of {len(found)} solutions is not known" in repr(found)


def test_an_unproven_best_is_told_with_its_bound(solutions):
    proof = replace(solutions.explored.proof, bound=solutions.best.loss / 2)
    found = replace(solutions, explored=replace(solutions.explored, proof=proof))
    assert not found.proven
    assert f"lower bound {solutions.best.loss / 2:.6g}" in repr(found)


def test_large_lattices_are_not_decided_completely(table, schema, monkeypatch):
    monkeypatch.setattr("sfumato.tables._pipeline.exploration.DECIDED", 5)
    found = sf.explore(table, schema, MODELS["k"], max_suppressed=0.05)
    assert found.counts()["bounded"] > 0
    assert (found.explored.bound[found.explored.status == NodeStatus.BOUNDED] >= found.best.loss - 1e-9).all()


def test_the_representation_counts_and_proves(solutions):
    told = repr(solutions)
    counts = solutions.counts()
    assert f"24 nodes: {counts['not anonymous']} not anonymous, {counts['anonymous']} anonymous" in told
    assert f"loss {solutions.best.loss:.6g}" in told
    assert "Proven best: loss" in told
    page = solutions._repr_html_()
    assert "<p>Solutions: 24 nodes" in page
    assert "<svg" in page


def test_the_picture_is_given_and_written(solutions, tmp_path):
    drawn = solutions.draw(tmp_path / "lattice.svg")
    assert (tmp_path / "lattice.svg").read_text("utf-8") == drawn == solutions.draw()
    assert ET.fromstring(drawn).tag.endswith("svg")  # noqa: S314 - our own picture


def test_no_cell_is_told(schema):
    canary = "kanarien" + "vogel"
    table = people().set_column(1, "zip", pa.array([canary] * 60 + ["53711"] * 60))
    found = sf.explore(table, schema, MODELS["k"])
    assert canary not in repr(found) + found._repr_html_() + str(found.table().to_pylist()) + repr(found.best)


def test_the_input_is_not_touched_and_progress_is_told(table, schema):
    frame = table.to_pandas()
    before = frame.copy()
    told = []
    sf.explore(frame, schema, MODELS["k"], progress=lambda *stand: told.append(stand[0]))
    pd.testing.assert_frame_equal(frame, before)
    assert told[-1] == 1.0


def test_ranked_solutions_come_by_loss_with_the_best_first(solutions):
    ranked = solutions.ranked()
    judged = [node for node in solutions.filter(status="anonymous").minimal if node.loss is not None]
    assert ranked[0] == solutions.best
    assert [node.loss for node in ranked] == sorted(node.loss for node in ranked)
    assert len(ranked) == sum(
        loss is not None for loss in solutions.filter(status="anonymous").table()["loss"].to_pylist()
    )
    assert all(node in ranked for node in judged)
    assert solutions.ranked(3) == ranked[:3]
    assert solutions.filter(max_loss=-1.0).ranked() == []


def test_levels_at_most_are_kept(solutions):
    kept = solutions.filter(max_levels={"age": 1, "sex": 0})
    table = solutions.table()
    expected = [
        (a, z, s) for a, z, s in zip(*(table[name].to_pylist() for name in NAMES), strict=True) if a <= 1 and s == 0
    ]
    assert sorted(zip(*(kept.table()[name].to_pylist() for name in NAMES), strict=True)) == sorted(expected)
    with pytest.raises(InvalidParameterError, match="not a quasi-identifier"):
        solutions.filter(max_levels={"disease": 1})


def test_what_was_found_is_plain_values(solutions):
    told = solutions.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["nodes"] == len(solutions)
    assert told["status"] == solutions.counts()
    assert told["best"]["levels"] == solutions.best.levels
    assert told["proven"]


SAID = ScatterLabels(title="Which?", description="All of them.", loss="loss", suppressed="left out")


def test_the_scatter_shows_every_judged_solution_and_rings_the_marked_ones(solutions):
    ranked = solutions.ranked()
    root = ET.fromstring(solutions.scatter({"A": ranked[0], "B": ranked[2].levels}, SAID))  # noqa: S314 - our own
    tips = [tip.text for tip in root.iter(f"{SVG}title") if tip.text != "Which?"]
    more = [int(found[1]) for tip in tips if (found := re.search(r"\(\+(\d+)\)$", tip))]
    assert len(tips) + sum(more) == len(ranked)
    rings = [each for each in root.iter(f"{SVG}circle") if each.get("fill") == "none"]
    assert len(rings) == 2
    losses = [ranked[0].loss, ranked[2].loss]
    assert (float(rings[0].get("cx")) < float(rings[1].get("cx"))) == (losses[0] < losses[1])
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert {"A", "B", "loss", "left out"} <= set(texts)
    assert root.find(f"{SVG}desc").text == "All of them."


def test_only_judged_nodes_can_be_marked(solutions):
    with pytest.raises(InvalidParameterError, match="not judged or is filtered out"):
        solutions.scatter({"A": dict.fromkeys(NAMES, 0)}, SAID)
    with pytest.raises(InvalidParameterError, match="give the level of"):
        solutions.scatter({"A": {"age": 1}}, SAID)


def test_a_scatter_without_solutions_is_empty(solutions):
    none = solutions.filter(max_loss=-1.0)
    assert ET.fromstring(none.scatter({}, SAID)).find(f"{SVG}circle") is None  # noqa: S314 - our own
