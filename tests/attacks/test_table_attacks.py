"""Attacks on small tables whose outcome is known, and on releases by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.core.attack import clopper_pearson
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.attacks._attack_table import attack
from sfumato.tables.attacks.inference import BackgroundKnowledge, Composition, Homogeneity, Similarity, Skewness
from sfumato.tables.attacks.linkage import Linkage, Membership, SinglingOut
from sfumato.tables.risk.disclosure import attribute_disclosure_risk

FALSE_ALARM = 1e-6
SCHEMA = sf.Schema(quasi_identifiers=["age", "zip"], sensitive=["ill"])
ORIGINAL = pd.DataFrame(
    {
        "name": list("ABCDEFGH"),
        "age": [21, 22, 23, 24, 41, 42, 43, 44],
        "zip": ["1", "1", "1", "1", "2", "2", "2", "2"],
        "ill": ["flu", "flu", "flu", "flu", "flu", "ulcer", "cancer", "cancer"],
    }
)
RELEASE = pd.DataFrame({"age": ["[20, 29]"] * 4 + ["[40, 49]"] * 4, "zip": list("11112222"), "ill": ORIGINAL["ill"]})
PATIENTS = sf.datasets.generate_hospital(1500, seed=5)
ROLES = sf.Schema(
    quasi_identifiers=["age", "zip", "sex"], sensitive=["disease"], hierarchies={"zip": sf.hierarchies.Prefixes(3, 1)}
)


@pytest.fixture(scope="module")
def release():
    return sf.anonymize(PATIENTS, ROLES, [sf.models.KAnonymity(k=5)], sf.algorithms.Mondrian(), seed=1)


def one(published, schema, which, **more):
    return attack(published, schema, [which], **{"known": ORIGINAL, "seed": 1, **more}).results[0]


def within(successes, trials, chance):
    low, high = clopper_pearson(successes, trials, 1 - FALSE_ALARM)
    return low <= chance <= high


def test_the_voter_list_of_the_chapter_singles_bob_out():
    published = pd.DataFrame(
        {"zip": ["13053", "13067", "13053"], "age": [28, 29, 35], "condition": ["Heart", "Heart", "Viral"]}
    )
    voters = pd.DataFrame(
        {
            "name": ["Natalia", "Bob", "Lisa", "Umeko"],
            "zip": ["13053", "13067", "13053", "13067"],
            "age": [28, 29, 35, 36],
        }
    )
    schema = sf.Schema(quasi_identifiers=["zip", "age"], sensitive=["condition"])
    found = attack(published, schema, [SinglingOut()], known=voters, correspondence=[0, 1, 2], seed=1)
    assert [(each.claims, each.successes, each.targets) for each in found] == [(3, 3, 4)]
    told = voters.assign(condition=["Heart", "Heart", "Viral", "Flu"])
    assert attack(published, schema, [Homogeneity()], known=told, seed=1).results[0].successes == 3


def test_nothing_is_claimed_without_the_truth(release):
    """Taking a matching record, or its value, for the target's would be right by construction."""
    strangers = sf.datasets.generate_hospital(1500, seed=77)
    known = strangers.select(list(ROLES.quasi_identifiers))
    for name in ("singling-out", "linkage"):
        with pytest.raises(SchemaError, match="nothing tells whose record is whose; give a correspondence"):
            attack(release.published, ROLES, [name], known=strangers, seed=1)
    with pytest.raises(SchemaError, match="whose truth is known"):
        attack(release.published, ROLES, ["homogeneity"], known=known, seed=1)
    assert attack(release.published, ROLES, known=known, seed=1).results == ()


@pytest.mark.parametrize("linked", [False, True])
def test_perturbed_records_are_refused_and_the_right_attacks_named(linked):
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"age": rng.integers(18, 90, 300), "pay": rng.integers(0, 10**6, 300)})
    people["ill"] = rng.choice(["flu", "ulcer"], 300)
    noisy = people.assign(age=people["age"] + rng.normal(0, 2, 300), pay=people["pay"] + rng.normal(0, 900, 300))
    schema = sf.Schema(quasi_identifiers=["age", "pay"], sensitive=["ill"])
    more = {"correspondence": range(300)} if linked else {}
    with pytest.raises(SchemaError, match=r"attack_records|centers of groups"):
        attack(noisy, schema, known=people, seed=1, **more)
    nearly = noisy.assign(age=people["age"], pay=people["pay"] // 1000 * 1000)
    nearly.loc[:20, "pay"] = people["pay"][:21]
    with pytest.raises(SchemaError, match="no generalization of these persons"):
        attack(nearly, schema, known=people, seed=1, **more)


def test_groups_of_four_are_linked_with_chance_one_in_four(release):
    found = attack(
        release.published,
        ROLES,
        [Linkage()],
        known=PATIENTS,
        correspondence=release.correspondence,
        targets=1500,
        seed=3,
    ).results[0]
    chances = attribute_disclosure_risk(release.published, ROLES, original=PATIENTS).identity.by_record
    assert found.targets == 1500
    assert within(found.successes, found.targets, float(chances.mean()))
    assert found.rate < 1 / 4


def test_the_correspondence_tells_whose_record_is_whose(release):
    known = attack(
        release.published,
        ROLES,
        [Linkage()],
        known=PATIENTS,
        correspondence=release.correspondence,
        targets=1500,
        seed=3,
    ).results[0]
    chances = attribute_disclosure_risk(release.published, ROLES, original=PATIENTS).identity.by_record
    assert within(known.successes, known.targets, float(chances.mean()))
    wrong = np.roll(release.correspondence, 700)
    with pytest.raises(SchemaError, match="no generalization of these persons"):
        attack(release.published, ROLES, [Linkage()], known=PATIENTS, correspondence=wrong, targets=1500, seed=3)


def test_homogeneity_knows_the_illness_of_one_group():
    found = one(RELEASE, SCHEMA, Homogeneity())
    assert (found.targets, found.claims, found.successes) == (8, 4, 4)
    assert found.baseline == 0.5
    assert one(RELEASE, SCHEMA, Homogeneity(certainty=0.5)).claims == 8


def test_ruling_values_out_makes_the_rest_certain():
    rates = [one(RELEASE, SCHEMA, BackgroundKnowledge(ruled_out=number)).rate for number in range(4)]
    assert rates == [0.5, 0.5, 1.0, 1.0]


def test_what_is_ruled_out_is_ruled_out_without_the_table_as_well():
    found = one(RELEASE, SCHEMA, BackgroundKnowledge(ruled_out=2))
    assert found.baseline == 1.0


def test_skewness_claims_what_has_grown():
    found = one(RELEASE, SCHEMA, Skewness(gain=1.5))
    assert (found.claims, found.successes) == (8, 6)
    assert one(RELEASE, SCHEMA, Skewness(gain=3)).claims == 0


def test_similar_illnesses_are_told_by_their_kind():
    kinds = sf.hierarchies.Taxonomy({"belly": ["ulcer", "gastritis"], "head": ["migraine", "stroke"]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["ill"], hierarchies={"ill": kinds})
    known = pd.DataFrame({"age": [1, 2, 11, 12], "ill": ["ulcer", "gastritis", "migraine", "ulcer"]})
    published = known.assign(age=["[0, 9]", "[0, 9]", "[10, 19]", "[10, 19]"])
    found = attack(published, schema, [Similarity(), Homogeneity()], known=known, seed=1).results
    assert [(each.claims, each.successes) for each in found] == [(2, 2), (0, 0)]


def test_similar_numbers_are_told_by_a_short_interval():
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["pay"])
    known = pd.DataFrame({"age": [1, 2, 11, 12], "pay": [1000, 1010, 1000, 2000]})
    published = known.assign(age=["[0, 9]", "[0, 9]", "[10, 19]", "[10, 19]"])
    found = attack(published, schema, [Similarity(closeness=0.05)], known=known, seed=1).results[0]
    assert (found.claims, found.successes) == (2, 2)
    assert found.baseline == 0.5


def test_two_releases_leave_one_value():
    known = pd.DataFrame({"age": [1, 2, 3, 4], "ill": ["flu", "ulcer", "cancer", "stroke"]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["ill"])
    first = known.assign(age=["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"])
    second = known.assign(age=["[0, 1]", "[2, 3]", "[2, 3]", "[4, 5]"])
    found = attack(first, schema, [Composition()], known=known, other=second, seed=1).results[0]
    assert (found.claims, found.successes) == (4, 4)
    assert found.details == {"first_alone": 0.0, "second_alone": 0.5}


def test_the_chances_of_two_releases_are_weighed_by_the_whole_table():
    known = pd.DataFrame({"age": [1, 2, 3, 4, 5, 6], "ill": ["flu", "ulcer", "flu", "flu", "flu", "ulcer"]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["ill"])
    both = known.assign(age=["[1, 2]"] * 2 + ["[3, 6]"] * 4)
    target = known[:2]
    # (1/2)(1/2)/(4/6) against (1/2)(1/2)/(2/6): one third and two thirds
    for certainty, claims in ((0.66, 2), (0.67, 0)):
        found = one(both, schema, Composition(certainty=certainty), known=target, other=both)
        assert (found.claims, found.successes) == (claims, claims // 2)


def test_only_one_match_singles_out():
    known = pd.DataFrame({"age": [1, 2, 3], "ill": ["flu", "flu", "ulcer"]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["ill"])
    found = one(
        known.assign(age=["[1, 2]", "[1, 2]", "3"]), schema, SinglingOut(), known=known, correspondence=[0, 1, 2]
    )
    assert (found.claims, found.successes) == (1, 1)


def test_members_are_drawn_where_there_are_fewer_outsiders():
    outsiders = pd.DataFrame({"age": [25, 60], "zip": ["1", "3"]})  # they leave the first group no fuller than usual
    found = [one(RELEASE, SCHEMA, Membership(), outsiders=outsiders, seed=seed) for seed in range(6)]
    assert {each.targets for each in found} == {4}
    assert len({each.details["members_found"] for each in found}) > 1


def test_members_are_told_from_outsiders_by_crowded_groups():
    outsiders = pd.DataFrame({"age": [60, 61, 62, 63, 25, 64, 65, 66], "zip": ["3"] * 4 + ["1"] + ["3"] * 3})
    found = one(RELEASE, SCHEMA, Membership(), outsiders=outsiders)
    assert found.targets == 16
    assert found.details == {"members_found": 1.0, "outsiders_accused": 0.125}
    assert found.rate == 15 / 16


def test_a_key_tells_members_and_truth():
    voters = pd.DataFrame({"name": list("ABEFXY"), "age": [21, 22, 41, 42, 60, 61], "zip": list("112233")})
    found = attack(RELEASE, SCHEMA, known=voters, original=ORIGINAL, key="name", seed=1)
    assert found.result("homogeneity").targets == 4
    assert found.result("homogeneity").successes == 2
    assert found.result("membership").targets == 4
    assert set(found.skipped) == {"singling-out", "linkage", "similarity", "composition"}
    linked = attack(
        RELEASE, SCHEMA, ["linkage"], known=voters, original=ORIGINAL, key="name", correspondence=range(8), seed=1
    )
    assert linked.results[0].targets == 4
    assert linked.results[0].details["matched"] == 1


def test_fewer_known_columns_tell_less(release):
    rates = [
        attack(
            release.published,
            ROLES,
            [Linkage()],
            known=PATIENTS.select([*known, "disease"]),
            correspondence=release.correspondence,
            seed=1,
        )
        .results[0]
        .rate
        for known in (["age", "zip", "sex"], ["age", "sex"], ["sex"])
    ]
    assert rates[0] > rates[1] > rates[2]


def test_beliefs_are_the_exposures(release):
    from sfumato.tables.attacks._setting import prepare_setting

    setting = prepare_setting(release.published, ROLES, PATIENTS, targets=1500, seed=1)
    beliefs, truth = setting.beliefs("disease"), setting.targets.truth["disease"]
    own = np.zeros(1500)
    hit = beliefs.codes == truth[beliefs.rows]
    own[beliefs.rows[hit]] = beliefs.chances[hit]
    expected = attribute_disclosure_risk(release.published, ROLES, original=PATIENTS).values["disease"].by_record  # noqa: PD011 - no frame
    assert np.allclose(own, expected)


def test_buckets_hide_values_and_not_records():
    made = sf.anonymize(
        PATIENTS, ROLES, [sf.models.FrequencyLDiversity(l=3, sensitive="disease")], sf.algorithms.Anatomy(), seed=1
    )
    found = attack(made.published, ROLES, known=PATIENTS, correspondence=made.correspondence, seed=1)
    assert found.result("singling-out").rate > 0.5
    assert found.result("homogeneity").claims == 0


def test_missing_cells_match_everything_under_that_policy():
    schema = sf.Schema(quasi_identifiers=["age", "zip"], sensitive=["ill"], missing="matches-all")
    known = ORIGINAL.assign(age=[None, *ORIGINAL["age"][1:]])
    found = one(RELEASE, schema, Linkage(), known=known, correspondence=range(8))
    assert found.details["matched"] == 1.0


def test_a_seed_repeats_and_frames_stay_as_they_are(release):
    before = ORIGINAL.copy(), RELEASE.copy()
    first, second = (attack(RELEASE, SCHEMA, known=ORIGINAL, seed=7).to_dict() for _ in range(2))
    assert first == second
    pd.testing.assert_frame_equal(before[0], ORIGINAL)
    pd.testing.assert_frame_equal(before[1], RELEASE)
    linked = {"known": PATIENTS, "correspondence": release.correspondence}
    rates = {attack(release.published, ROLES, ["linkage"], **linked, seed=s).results[0].rate for s in range(4)}
    assert len(rates) > 1


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"attacks": ["telepathy"]}, InvalidParameterError),
        ({"attacks": [3]}, InvalidParameterError),
        ({"attacks": ["membership"]}, SchemaError),
        ({"attacks": ["composition"]}, SchemaError),
        ({"targets": 0}, InvalidParameterError),
        ({"seed": -1}, InvalidParameterError),
        ({"known": ORIGINAL[["name"]]}, SchemaError),
        ({"known": ORIGINAL[:0]}, SchemaError),
        ({"known": ORIGINAL.assign(age=99)}, SchemaError),
        ({"key": "name"}, InvalidParameterError),
        ({"original": ORIGINAL, "key": "nobody"}, SchemaError),
        ({"original": ORIGINAL, "key": "zip"}, SchemaError),
        ({"original": ORIGINAL.assign(name="Zed" + ORIGINAL["name"]), "key": "name"}, SchemaError),
        ({"correspondence": [0, 1]}, InvalidParameterError),
        ({"correspondence": [9] * 8}, InvalidParameterError),
        ({"outsiders": ORIGINAL[["age"]]}, SchemaError),
        ({"outsiders": ORIGINAL.assign(age="young")}, SchemaError),
    ],
)
def test_bad_requests_for_attacks_are_refused_in_a_sentence(more, error):
    with pytest.raises(error) as refused:
        attack(RELEASE, SCHEMA, **{"known": ORIGINAL, **more})
    said = str(refused.value)
    assert said.endswith((".", "?"))
    assert not any(ill in said for ill in ("flu", "ulcer", "Zed", "young"))


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (Homogeneity, {"certainty": 0}),
        (Skewness, {"gain": 1}),
        (Similarity, {"closeness": 1}),
        (BackgroundKnowledge, {"ruled_out": -1}),
        (BackgroundKnowledge, {"certainty": 1.5}),
    ],
)
def test_parameters_of_attacks_outside_their_range_are_refused(kind, wrong):
    with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
        kind(**wrong)
