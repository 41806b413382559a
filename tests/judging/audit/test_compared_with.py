"""Audits of t-closeness: compared with the published table by anybody, with the original only by who has it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.errors import InfeasibleError, SchemaError, UnsupportedModelError
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._piecewise import audit_pieces
from sfumato.tables.out_of_core._support import check_engine_support
from sfumato.tables.published._sensitive_values import SensitiveTotals

SCHEMA = sf.Schema(quasi_identifiers=["q"], sensitive=["s"])
ORIGINAL = pa.table({"q": ["a"] * 4 + ["b"] * 4 + ["c"] * 2, "s": list("xxyyxyyyzz")})
SHOWN, ROWS = ORIGINAL.slice(0, 8), list(range(8))


def close(t=0.35, **options):
    return sf.models.TCloseness(t=t, sensitive="s", **{"compared_with": "original", **options})


@pytest.mark.parametrize(
    "algorithm",
    [sf.algorithms.Optimal(), sf.algorithms.Incognito(), sf.algorithms.KOptimize(), sf.algorithms.LocalRecoding()],
)
def test_a_search_that_proves_something_says_what_it_compared_with(algorithm):
    published = close(t=1, compared_with="published")
    for models, table in (
        ([close(t=1)], "original"),
        ([published], "published"),
        ([published, close(t=1)], "both"),
        ([sf.models.KAnonymity(k=2)], ""),
    ):
        release = sf.anonymize(ORIGINAL, SCHEMA, models, algorithm, seed=1)
        assert release.proof.compared_with == table
        assert ("Distributions are compared with" in str(release)) == bool(table)


def by_hand(shown, original):
    """Compute the total variation distance of every group from all records."""
    names, values = shown["q"].to_pylist(), shown["s"].to_pylist()
    everything, levels = original["s"].to_pylist(), {}
    for name in set(names):
        own = [value for group, value in zip(names, values, strict=True) if group == name]
        shares = [own.count(v) / len(own) - everything.count(v) / len(everything) for v in sorted(set(everything))]
        levels[name] = sum(abs(share) for share in shares) / 2
    return levels


def test_groups_are_compared_with_all_records_of_the_original():
    audit = sf.audit(SHOWN, SCHEMA, [close(), close(compared_with="published")], original=ORIGINAL, correspondence=ROWS)
    assert audit.verdicts[0].level == pytest.approx(max(by_hand(SHOWN, ORIGINAL).values()))
    assert audit.verdicts[1].level == pytest.approx(max(by_hand(SHOWN, SHOWN).values()))
    assert audit.verdicts[0].level != pytest.approx(audit.verdicts[1].level)
    assert [each["parameters"]["compared_with"] for each in audit.to_dict()["models"]] == ["original", "published"]
    assert "compared_with='original'" in repr(audit)


def test_the_rest_of_an_audit_compares_with_the_original_too():
    audit = sf.audit(SHOWN, SCHEMA, [], original=ORIGINAL, correspondence=ROWS)
    expected = by_hand(SHOWN, ORIGINAL)
    strict = close(t=(expected["a"] + expected["b"]) / 2)
    assert audit.evaluate(strict).level == pytest.approx(max(expected.values()))
    assert sorted(audit.per_group(strict)["level"].to_pylist()) == pytest.approx(sorted(expected.values()))
    far = max(expected, key=expected.get)
    assert [SHOWN["q"][int(row)].as_py() for row in audit.violating_rows(strict)] == [far] * 4


def test_without_the_original_no_audit_judges_it():
    for ask in (
        lambda: sf.audit(SHOWN, SCHEMA, [close()]),
        lambda: sf.audit(SHOWN, SCHEMA).evaluate(close()),
        lambda: sf.audit(SHOWN, SCHEMA).per_group(close()),
        lambda: sf.audit(SHOWN, SCHEMA).violating_rows(close()),
    ):
        with pytest.raises(SchemaError, match="only its owner has; give original="):
            ask()


def test_no_piece_of_a_table_judges_it():
    totals = SensitiveTotals.count(8, {"s": (SHOWN["s"], np.ones(8, dtype=np.int64))}, SCHEMA)
    with pytest.raises(SchemaError, match="only its owner has"):
        audit_pieces([AuditContext(SHOWN, SCHEMA, totals=totals)], [close()])


def test_flagged_cells_are_not_compared_with_the_original():
    schema = sf.Schema(quasi_identifiers=["q"], sensitive=["s"], flags={"s": "f"})
    table = ORIGINAL.append_column("f", pa.array([True] * 10))
    with pytest.raises(SchemaError, match="cannot compare these with the original table"):
        sf.anonymize(table, schema, [close()], sf.algorithms.LocalAnatomy())


def test_beyond_memory_it_is_refused():
    recipe = sf.Recipe(schema=SCHEMA, models=[close()], algorithm=sf.algorithms.Optimal())
    with pytest.raises(UnsupportedModelError, match="compares with the original table, which is not served"):
        check_engine_support(recipe)


@pytest.mark.parametrize(
    "algorithm",
    [
        sf.algorithms.Optimal(),
        sf.algorithms.Optimal(refine=True),
        sf.algorithms.Mondrian(),
        sf.algorithms.Datafly(),
        sf.algorithms.SABRE(),
    ],
)
@examples(15)
@given(seed=st.integers(0, 2**16), missing=st.sampled_from(["own-value", "matches-all"]))
def test_releases_keep_what_an_auditor_with_the_original_finds(algorithm, seed, missing):
    rng = np.random.default_rng(seed)
    q, s = rng.integers(0, 6, 60), rng.choice(4, 60, p=[0.4, 0.3, 0.2, 0.1])
    table = pa.table({"q": q, "s": pa.array([None if v == 3 and missing != "own-value" else f"v{v}" for v in s])})
    schema = sf.Schema(
        quasi_identifiers=["q"], sensitive=["s"], hierarchies={"q": sf.hierarchies.Intervals(2, 4)}, missing=missing
    )
    try:
        release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=3), close(t=0.4)], algorithm, max_suppressed=0.5)
    except InfeasibleError:
        return
    assert release.audit.holds
    shown = release.published
    again = sf.audit(shown, schema, [close(t=0.4)], original=table)
    assert again.verdicts[0].holds
    if missing == "own-value":
        assert again.verdicts[0].level == pytest.approx(max(by_hand(shown, table).values()))


def test_the_written_folder_names_the_table_and_tells_nothing_of_suppressed_values(tmp_path):
    release = sf.anonymize(ORIGINAL, SCHEMA, [close(t=0.5)], sf.algorithms.Optimal(), max_suppressed=0.5)
    assert release.suppressed
    release.write(tmp_path / "out")
    public = tmp_path / "out" / "public"
    told = json.loads((public / "promise.json").read_text("utf-8"))
    assert "as in the whole original table" in told["promise"][0]["words"]
    assert told["audit"]["models"][0] == {**told["audit"]["models"][0], "holds": True, "level": 0.5, "limit": 0.5}
    reached = release.audit.verdicts[0].level
    assert reached not in {each["level"] for each in (*told["audit"]["models"], *told["audit"]["levels"])}
    pages = "".join(path.read_text("utf-8") for path in public.rglob("*.html"))
    assert "distance of the farthest group: 0.5 " in pages
    assert "Only who has the original table can check" in pages
