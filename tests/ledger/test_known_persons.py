"""What a ledger knows of persons: who they are, which values they were told with, who waits and who is forgotten."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

import sfumato as sf
from series_of_patients import MODELS, SCHEMA, changed, quarter, refused, released
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InvalidParameterError, SchemaError


def test_a_search_is_told_who_was_published_and_with_which_values(two_quarters):
    table = changed(quarter(10, 20), "disease", ["plague", *quarter(11, 20)["disease"].to_pylist()])
    coded = encode_table(table, SCHEMA)
    version = two_quarters.draft(table, SCHEMA).version
    known = version.known(coded)
    assert known.published.tolist() == [True] * 5 + [False] * 5
    assert known.waited.tolist() == [0] * 10
    signed = known.signatures["disease"]
    assert (signed.of_case >= 0).tolist() == known.published.tolist()
    assert signed.changed.tolist() == [True] + [False] * 9
    assert not signed.shown.any()
    assert signed.texts[:5] == (*coded.sensitive[0].domain.texts, None)[:5]
    first, history, values = version.numbers[0], two_quarters.history("disease"), two_quarters.values("disease")
    group = history.releases[0].members[first]
    start, end = history.releases[0].histogram.offsets[group : group + 2]
    shown = {values[code] for code in history.releases[0].histogram.codes[start:end]}
    assert {signed.texts[code] for code in signed.sets[signed.of_case[0]]} == shown
    taken = known.take(np.array([9, 0]))
    assert taken.published.tolist() == [False, True]
    assert taken.signatures["disease"].of_case.tolist() == [-1, signed.of_case[0]]


def test_a_value_that_nobody_has_any_more_has_a_code_after_the_missing_one(two_quarters):
    table = quarter(0, 12).filter(pa.array([number % 4 != 0 for number in range(12)]))
    signed = two_quarters.draft(table, SCHEMA).version.known(encode_table(table, SCHEMA)).signatures["disease"]
    assert signed.texts == ("flu", "gout", "measles", None, "angina")
    assert signed.width == 5
    assert any(4 in values for values in signed.sets)


def test_persons_are_known_however_their_identifiers_are_written(ledger):
    released(ledger, quarter(0, 12)).write("q1", report=False)
    for cells in ([float(number) for number in range(12)], [str(number) for number in range(12)]):
        assert (ledger.draft(changed(quarter(0, 12), "id", cells), SCHEMA).version.numbers >= 0).all()


def test_names_are_compared_in_one_normal_form_and_told_apart_by_their_lengths(ledger):
    schema = replace(SCHEMA, identifiers=["given", "family"])
    table = quarter(0, 4).append_column("given", pa.array(["Zoe\u0301", "ab", "a", "x"]))
    table = table.append_column("family", pa.array(["K", "c", "bc", "y"]))
    sf.anonymize(table, schema, MODELS, ledger=ledger).write("q1", report=False)
    composed = changed(table, "given", ["Zo\u00e9", "ab", "a", "x"])
    assert (ledger.draft(composed, replace(schema, identifiers=["family", "given"])).version.numbers >= 0).all()
    swapped = changed(composed, "family", ["K:", "c", "bc", "y"])
    assert (ledger.draft(swapped, schema).version.numbers >= 0).tolist() == [False, True, True, True]


def test_who_is_left_out_and_was_never_published_waits(ledger):
    table = changed(quarter(0, 12), "age", [20] * 11 + [90])
    schema = replace(SCHEMA, hierarchies={"age": sf.hierarchies.Intervals(5, 10)})
    fixed = sf.algorithms.FixedLevels(levels={"age": 0})
    for folder in ("q1", "q2"):
        sf.anonymize(table, schema, MODELS, fixed, max_suppressed=0.1, ledger=ledger).write(folder, report=False)
        assert ledger.releases()[-1].waiting == 1
    known = ledger.draft(table, schema).version.known(encode_table(table, schema))
    assert known.waited.tolist() == [0] * 11 + [2]
    assert known.published.tolist() == [True] * 11 + [False]


def test_buckets_are_groups_and_their_values_are_the_signatures(ledger):
    release = sf.anonymize(
        quarter(0, 12),
        SCHEMA,
        [sf.models.DistinctLDiversity(l=3, sensitive="disease")],
        sf.algorithms.Anatomy(),
        ledger=ledger,
    )
    release.write("q1", report=False)
    buckets = release.aligned()["_bucket_disease"].to_pylist()
    members = ledger.history("disease").releases[0].members
    assert {tuple(np.flatnonzero(members == group)) for group in range(4)} == {
        tuple(at for at, each in enumerate(buckets) if each == bucket) for bucket in set(buckets)
    }


def test_cells_that_are_not_in_buckets_are_shown_and_sign_nobody(ledger):
    table = quarter(0, 12).append_column("hide", pa.array([True] * 8 + [False] * 4))
    schema = replace(SCHEMA, flags={"disease": "hide"})
    model = sf.models.DistinctLDiversity(l=2, sensitive="disease")
    sf.anonymize(table, schema, [model], sf.algorithms.LocalAnatomy(), ledger=ledger).write("q1", report=False)
    signed = ledger.draft(table, schema).version.known(encode_table(table, schema)).signatures["disease"]
    assert signed.shown.tolist() == [False] * 8 + [True] * 4
    assert (signed.of_case >= 0).tolist() == [True] * 8 + [False] * 4
    sizes = ledger.history("disease").releases[0].histogram.sizes
    assert (sizes == 1).sum() == 4


def test_flagged_quasi_identifiers_are_followed_where_they_are_hidden_or_shown_as_they_are(ledger):
    table = quarter(0, 12).append_column("hide", pa.array([True] * 8 + [False] * 4))
    schema = replace(SCHEMA, sensitive=[], insensitive=["disease"], flags={"age": "hide"})
    model = sf.models.DistinctLDiversity(l=2, sensitive="age")
    sf.anonymize(table, schema, [model], sf.algorithms.LocalAnatomy(), ledger=ledger).write("q1", report=False)
    signed = ledger.draft(table, schema).version.known(encode_table(table, schema)).signatures["age"]
    assert (signed.of_case >= 0).tolist() == [True] * 8 + [False] * 4
    assert signed.shown.tolist() == [False] * 8 + [True] * 4


def test_missing_values_are_values(ledger):
    table = changed(quarter(0, 8), "disease", [None, "flu"] * 4)
    released(ledger, table).write("q1", report=False)
    assert ledger.values("disease") == ("flu", None)
    assert ledger.history("disease").releases[0].histogram.counts.sum() == 8
    signed = ledger.draft(table, SCHEMA).version.known(encode_table(table, SCHEMA)).signatures["disease"]
    assert not signed.changed.any()


def test_many_permanent_attributes_hide_their_values_apart(ledger):
    names = [f"a{number}" for number in range(7)]
    table = quarter(0, 12)
    for name in names:
        table = table.append_column(name, table["disease"])
    schema = sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=names)
    released(ledger, table, schema).write("q1", report=False)
    hidden = ledger.draft(table, schema).version.hidden
    assert len({hashes.tobytes() for hashes in hidden.values()}) == 7
    assert len({value for hashes in hidden.values() for value in hashes.tolist()}) == 7 * 12
    other = table.set_column(table.column_names.index("a6"), "a6", pa.array(["flu"] * 12))
    refused(SchemaError, "9 persons changed a permanent value, of 'a6'", released, ledger, other, schema)


def test_a_forgotten_person_is_new_when_she_comes_back_and_groups_keep_their_sizes(two_quarters):
    before, head = two_quarters.history("disease"), two_quarters.head
    token = two_quarters.draft(quarter(4, 5), SCHEMA).version.people.tokens[0].as_py()
    assert token in two_quarters.path.read_bytes()
    assert two_quarters.forget("4")
    assert token not in two_quarters.path.read_bytes()
    assert two_quarters.head != head
    after = two_quarters.history("disease")
    for one, other in zip(before.releases, after.releases, strict=True):
        assert np.array_equal(one.members, other.members)
        assert np.array_equal(one.histogram.counts, other.histogram.counts)
    numbers = two_quarters.draft(quarter(3, 6), SCHEMA).version.numbers
    assert (numbers >= 0).tolist() == [True, False, True]
    assert two_quarters.verify() == ()
    assert not two_quarters.forget(4)
    refused(InvalidParameterError, "knows persons by 'id'; give a value for each", two_quarters.forget, "4", "x")


def test_a_person_who_waits_can_be_forgotten_too(ledger):
    table = changed(quarter(0, 12), "age", [20] * 11 + [90])
    schema = replace(SCHEMA, hierarchies={"age": sf.hierarchies.Intervals(5, 10)})
    fixed = sf.algorithms.FixedLevels(levels={"age": 0})
    sf.anonymize(table, schema, MODELS, fixed, max_suppressed=0.1, ledger=ledger).write("q1", report=False)
    assert ledger.forget(11)
    assert ledger.draft(table, schema).version.known(encode_table(table, schema)).waited.tolist() == [0] * 12
