"""Centers of groups lie among the values that they stand for; the audit counts those that do not."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf

SCHEMA = sf.Schema(
    quasi_identifiers=["age", "grade", "town"],
    sensitive=["disease"],
    orders={"grade": ["none", "school", "degree", "doctor"]},
)
ORIGINAL = pa.table(
    {
        "age": [20, 30, 60, 70],
        "grade": ["none", "degree", "school", "school"],
        "town": ["A", "B", "C", "C"],
        "disease": ["flu", "cold", "flu", "cold"],
    }
)


def published(**cells):
    true = {
        "age": [25.0, 25.0, 65.0, 65.0],
        "grade": ["school", "school", "school", "school"],
        "town": ["A", "A", "C", "C"],
        "disease": ["flu", "cold", "flu", "cold"],
    }
    return pa.table({**true, **cells})


def truth(table, correspondence=(0, 1, 2, 3), *, centers=True):
    found = sf.audit(table, SCHEMA, original=ORIGINAL, correspondence=correspondence, centers=centers)
    assert found.truth is not None
    return found.truth


def test_means_middle_ranks_and_members_are_true_centers():
    assert truth(published()).holds
    assert truth(published(), correspondence=None).holds


def test_without_being_told_the_audit_takes_centers_for_false_values():
    assert not truth(published(), centers=False).holds


@pytest.mark.parametrize(
    ("cells", "false"),
    [
        ({"age": [31.0, 31.0, 65.0, 65.0]}, 2),
        ({"age": [25.0, 25.0, 60.0, 59.9]}, 1),
        ({"grade": ["doctor", "doctor", "school", "school"]}, 2),
        ({"town": ["A", "A", "B", "B"]}, 2),
        ({"town": ["A", "A", "D", "D"]}, 2),
        ({"age": ["*", "*", "65", "65"]}, 2),
        ({"disease": ["flu", "flu", "flu", "cold"]}, 1),
    ],
)
def test_a_center_outside_its_group_is_false(cells, false):
    assert truth(published(**cells)).false_cells == false


def test_without_a_correspondence_centers_must_lie_among_all_values_and_other_cells_must_be_there():
    assert truth(published(age=[25.0, 25.0, 71.0, 71.0]), correspondence=None).false_cells == 2
    assert truth(published(disease=["flu", "flu", "flu", "cold"]), correspondence=None).unmatched == 1
