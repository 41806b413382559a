"""Attacks on perturbed and synthetic records: golden figures, formulas, controls, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import to_arrow
from sfumato.tables.attacks._gower import ComparedRecords
from sfumato.tables.attacks._record_results import auc_with_error, excess_risk, holm_correction, wilson_score
from sfumato.tables.attacks.records import (
    RECORD_ATTACKS,
    ClosestRecord,
    LinkabilityAttack,
    MembershipDistance,
    MembershipLearned,
    NearestInference,
    attack_records,
)

SCHEMA = sf.Schema(
    quasi_identifiers=["age", "sex", "region"], sensitive=["job", "income"], insensitive=["edu", "hours"]
)


def population(rows: int, seed: int) -> pd.DataFrame:
    """Draw persons whose job and income depend on other columns."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    sex, region = rng.choice(["f", "m"], rows), rng.choice(list("abcdefgh"), rows)
    edu = np.round(np.clip(2 * (rng.normal(size=rows) + 0.5 * (age < 60)) + 8, 0, 16)).astype(int)
    income = np.round(np.exp(9.5 + 0.08 * edu + 0.01 * (age - 18) + rng.normal(0, 0.5, rows)), 2)
    hours = np.round(np.clip(rng.normal(38, 9, rows), 1, 80)).astype(int)
    job = [f"j{each}" for each in (edu + 5 * (hours > 40) + rng.integers(0, 3, rows)) % 12]
    return pd.DataFrame(
        {"age": age, "sex": sex, "region": region, "edu": edu, "hours": hours, "job": job, "income": income}
    )


@pytest.fixture(scope="module")
def people():
    both = population(2000, 1)
    return both[:1000].reset_index(drop=True), both[1000:].reset_index(drop=True)


@pytest.fixture(scope="module")
def releases(people):
    original, _ = people
    rng = np.random.default_rng(7)
    noisy = original.copy()
    for name in ("age", "edu", "hours", "income"):
        noisy[name] = original[name] + rng.normal(0, 0.1 * original[name].std(), len(original))
    shuffled = original.apply(rng.permutation)
    return {"copy": original, "noise": noisy, "shuffled": shuffled, "stranger": population(1000, 99)}


def run(releases, people, release, *attacks, **more):
    original, control = people
    given_to = {"control": control, "schema": SCHEMA, "targets": 1000, "seed": 1, **more}
    return attack_records(releases[release], original, attacks, **given_to)


@pytest.mark.parametrize(
    ("counts", "excess", "low", "high"),
    [
        ((974, 1000, 236, 1000), 0.9635, 0.9504, 0.9767),
        ((808, 1000, 56, 1000), 0.7950, 0.7689, 0.8211),
        ((109, 500, 91, 500), 0.0438, -0.0156, 0.1032),
    ],
)
def test_the_excess_is_that_of_the_framework(counts, excess, low, high):
    found, half = excess_risk(*counts)
    assert (found, found - half, found + half) == pytest.approx((excess, low, high), abs=6e-5)


def test_extreme_counts_have_intervals_and_a_sure_control_has_no_excess():
    assert wilson_score(1000, 1000) == pytest.approx((0.998087, 0.001913), abs=1e-6)
    assert sum(wilson_score(0, 500)) == pytest.approx(0.007624, abs=1e-6)
    assert excess_risk(100, 100, 0, 100)[0] > 0.9
    assert excess_risk(100, 100, 98, 100) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_corrected_chances_are_larger_in_the_same_order_and_at_most_one(chances):
    corrected = holm_correction(chances)
    assert all(each <= after <= 1 for each, after in zip(chances, corrected, strict=True))
    pairs = sorted(zip(chances, corrected, strict=True))
    assert [after for _, after in pairs] == sorted(after for _, after in pairs)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=9), st.lists(st.integers(0, 5), min_size=2, max_size=9))
def test_the_area_is_the_chance_to_be_above(inside, outside):
    expected = np.mean([(a > b) + (a == b) / 2 for a in inside for b in outside])
    assert auc_with_error(np.array(inside, float), np.array(outside, float))[0] == pytest.approx(expected)


cells = st.one_of(st.none(), st.integers(0, 9))
rows = st.lists(st.tuples(cells, cells, st.sampled_from(["a", "b", None])), min_size=2, max_size=8)


@examples(60)
@given(rows, rows)
def test_distances_are_those_of_the_definition(one, other):
    names = ["x", "y", "z"]
    types = {"x": "Int64", "y": "Int64", "z": "object"}
    frames = [pd.DataFrame(each, columns=names).astype(types) for each in (one, other)]
    tables = {"original": to_arrow(frames[0])[0], "published": to_arrow(frames[1])[0]}
    records = ComparedRecords.of(tables, names)
    (_, found), *_ = records.distances("original", np.arange(len(one)), names)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            total = 0.0
            for place in (0, 1):
                known = [row[place] for row in [*one, *other] if row[place] is not None]
                width = max(known, default=0) - min(known, default=0)
                if a[place] is None or b[place] is None:
                    total += a[place] is not b[place]
                else:
                    total += abs(a[place] - b[place]) / width if width else 0
            assert found[i, j] == pytest.approx(total + (a[2] != b[2]))


def test_a_copy_tells_everything_and_a_stranger_nothing(releases, people):
    copy = run(releases, people, "copy", NearestInference(sensitive="job"), MembershipDistance(), ClosestRecord())
    assert [each.rate for each in copy] == [1, 1, 1]
    assert len(copy.above) == 3
    stranger = run(
        releases, people, "stranger", NearestInference(), LinkabilityAttack(), MembershipDistance(), ClosestRecord()
    )
    assert stranger.above == ()
    assert all(each.excess_interval[0] < 0.05 for each in stranger)


def test_light_noise_protects_nobody(releases, people):
    """Exact matching finds nobody here; the nearest record tells the job of nearly everybody."""
    found = run(
        releases,
        people,
        "noise",
        NearestInference(sensitive="job"),
        MembershipDistance(),
        LinkabilityAttack(neighbors=10),
    )
    job, member, linked = found
    assert job.excess > 0.9
    assert member.rate > 0.95
    assert linked.excess > 0.5
    assert {each.attack for each in found.above} == {"nearest-inference", "membership-distance", "link-halves"}


def test_shuffled_columns_tell_no_person_but_unique_values(releases, people):
    found = run(releases, people, "shuffled", "single-value", "nearest-inference", "membership-distance")
    assert found.result("single-value").rate > 0.9
    assert found.result("single-value").control < 0.05
    assert found.result("nearest-inference", "job").excess < 0.1
    assert found.result("membership-distance").rate < 0.6


def test_learned_attacks_see_a_copy(releases, people):
    pytest.importorskip("sklearn")
    found = run(releases, people, "copy", "learned-inference", MembershipLearned())
    assert found.result("learned-inference", "job").excess > 0.5
    assert found.result("membership-learned").rate > 0.7
    nothing = run(releases, people, "stranger", MembershipLearned())
    assert nothing.results[0].rate == pytest.approx(0.5, abs=0.08)


def test_ties_count_in_part_so_that_the_order_of_rows_tells_nothing(people):
    original, control = people
    coarse = original.assign(age=original["age"] // 30, income=original["income"] // 20_000)
    attacks = [NearestInference(sensitive="job"), LinkabilityAttack(), MembershipDistance(), ClosestRecord()]
    turned = coarse[::-1].reset_index(drop=True)
    first, second = (attack_records(each, original, attacks, control=control, seed=1) for each in (coarse, turned))
    assert [each.rate for each in first] == pytest.approx([each.rate for each in second])
    assert [each.control for each in first] == pytest.approx([each.control for each in second])


def test_the_unit_of_a_column_does_not_matter(releases, people):
    original, control = people
    large = [each.assign(income=each["income"] * 1000) for each in (releases["noise"], original, control)]
    attacks = [NearestInference(sensitive="job"), MembershipDistance()]
    scaled = attack_records(large[0], large[1], attacks, control=large[2], seed=1)
    plain = attack_records(releases["noise"], original, attacks, control=control, seed=1)
    assert [each.rate for each in scaled] == pytest.approx([each.rate for each in plain])


def test_without_a_control_nothing_is_said_about_the_release(releases, people):
    found = run(releases, people, "copy", control=None)
    assert set(found.skipped) == {"closest-record", "membership-distance", "membership-learned"}
    assert all(each.excess is None and each.control is None for each in found)
    assert "against guessing only" in repr(found)
    assert found.above == ()


def test_a_secret_that_everybody_tells_is_no_secret(people):
    original, control = (each.assign(**{f"sex{n}": each["sex"] for n in range(6)}) for each in people)
    found = attack_records(original, original, [NearestInference(sensitive="sex")], control=control, seed=1).results[0]
    assert found.control > 0.98
    assert found.excess is None
    assert "the control is nearly always right: this secret is no secret" in repr(found)


def test_generalized_columns_are_refused_or_left_out(people):
    original, control = people
    ages = original["age"].map(lambda age: f"[{age // 10 * 10}, {age // 10 * 10 + 9}]")
    mixed = attack_records(original.assign(age=ages), original, ["nearest-inference"], control=control, schema=SCHEMA)
    assert mixed.generalized == ("age",)
    assert "not compared, because generalized: age" in repr(mixed)
    with pytest.raises(SchemaError, match="for generalizations take singling-out, linkage"):
        attack_records(pd.DataFrame({"age": ages}), original, control=control)
    with pytest.raises(SchemaError, match="for generalizations take"):
        attack_records(original[["region"]].assign(region="*"), original, control=control)


def test_controls_that_mean_nothing_are_refused(releases, people):
    original, control = people
    shared = pd.concat([control[:900], original[:100]])
    with pytest.raises(SchemaError, match=r"100 of 1,000 rows of the control are rows of the original"):
        run(releases, people, "noise", control=shared)
    pytest.importorskip("sklearn")
    with pytest.raises(SchemaError, match="another population"):
        run(releases, people, "noise", control=control.assign(age=control["age"] + 30))
    with pytest.raises(SchemaError, match="The control table has 10 rows; attacks need at least 30"):
        run(releases, people, "noise", control=control[:10])


def test_names_that_nobody_shares_make_no_other_population(people):
    original, control = (each.assign(name=[f"{at}-{n:04}" for n in range(1000)]) for at, each in enumerate(people))
    mixed = np.random.default_rng(3).permutation(2000)
    names = np.array([*original["name"], *control["name"]])[mixed]
    original["name"], control["name"] = names[:1000], names[1000:]
    assert attack_records(original, original, ["membership-distance"], control=control, seed=1).results[0].rate == 1


def test_few_targets_are_said_to_be_few(releases, people):
    found = run(releases, people, "noise", NearestInference(sensitive="job"), targets=50)
    assert "few targets" in found.results[0].note


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"attacks": ["telepathy"]}, InvalidParameterError),
        ({"attacks": [3]}, InvalidParameterError),
        ({"attacks": ["membership-distance"], "control": None}, SchemaError),
        ({"attacks": [NearestInference(sensitive="nobody")]}, SchemaError),
        ({"targets": 5}, InvalidParameterError),
        ({"schema": 3}, InvalidParameterError),
    ],
)
def test_bad_requests_for_attacks_on_records_are_refused(releases, people, more, error):
    original, control = people
    with pytest.raises(error) as refused:
        attack_records(releases["noise"], original, **{"control": control, **more})
    assert str(refused.value).endswith((".", "?"))


@pytest.mark.parametrize("name", [name for name in RECORD_ATTACKS if "learned" not in name])
def test_every_attack_on_records_repeats_and_shows_no_cell(releases, people, name):
    if name == "single-value":
        return
    first, second = (run(releases, people, "noise", name, targets=100) for _ in range(2))
    assert first.to_dict() == second.to_dict()
    assert RECORD_ATTACKS[name].judges
    assert RECORD_ATTACKS[name].reference
    for each in first:
        assert each.interval[0] <= each.rate <= each.interval[1]
        assert 0 <= each.baseline <= 1
    assert "j11" not in repr(first) + str(first.to_dict())
