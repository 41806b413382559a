"""Prefixes of codes."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import HierarchyError, InvalidParameterError
from sfumato.hierarchies.prefixes import Prefixes


def test_postcodes_lose_one_character_per_level():
    tree = Prefixes().build(pa.array(["53715", "53710", "53703", "90210"]))
    assert tree.leaves == ("53703", "53710", "53715", "90210")
    assert tree.labels[1] == ("5370*", "5371*", "9021*")
    assert tree.labels[2:] == (("537**", "902**"), ("53***", "90***"), ("5****", "9****"), ("*",))
    assert tree.levels[1].tolist() == [0, 1, 1, 2]


def test_lengths_can_be_chosen():
    tree = Prefixes(3, 1).build(pa.array(["53715", "53703", "54000"]))
    assert tree.labels[1:] == (("537**", "540**"), ("5****",), ("*",))


def test_short_codes_are_filled_up_with_spaces():
    tree = Prefixes().build(pa.array(["537", "53715", "5"]))
    assert tree.leaves == ("5", "537", "53715")
    assert tree.labels[1:] == (
        ("5   *", "537 *", "5371*"),
        ("5  **", "537**"),
        ("5 ***", "53***"),
        ("5****",),
        ("*",),
    )


def test_a_length_beyond_the_longest_code_repeats_the_codes():
    assert Prefixes(9, 1).build(pa.array(["10", "2"])).labels == (
        ("10", "2"),
        ("10", "2"),
        ("1*", "2*"),
        ("*",),
    )


def test_numbers_are_taken_by_their_text():
    assert Prefixes(1).build(pa.array([207, 31])).labels[:2] == (("207", "31"), ("2**", "3**"))


def test_letters_beyond_ascii_count_as_one():
    assert Prefixes(1).build(pa.array(["Äß", "Äx"])).labels[1] == ("Ä*",)


def test_single_characters_go_straight_to_the_root():
    assert Prefixes().build(pa.array(["a", "b"])).labels == (("a", "b"), ("*",))


def test_no_values_make_a_lonely_root(check_laws):
    check_laws(Prefixes().build(pa.array([], pa.string())))
    check_laws(Prefixes(4, 2).build(pa.array([], pa.null()).cast(pa.string())))


def test_long_texts_need_chosen_lengths():
    texts = pa.array(["x" * 65, "y"])
    with pytest.raises(HierarchyError, match="at most 64 characters, but the longest has 65"):
        Prefixes().build(texts)
    assert Prefixes(2).build(texts).height == 2


def test_codes_that_look_like_labels_are_refused():
    with pytest.raises(HierarchyError, match="1 labels that stand for different sets"):
        Prefixes(1).build(pa.array(["5*", "51"]))


@pytest.mark.parametrize("lengths", [(0,), (-1,), (2.0,), (True,), ("3",)])
def test_lengths_are_whole_and_positive(lengths):
    with pytest.raises(InvalidParameterError, match="whole numbers of at least 1"):
        Prefixes(*lengths)


@pytest.mark.parametrize("lengths", [(1, 2), (2, 2)])
def test_lengths_decrease(lengths):
    with pytest.raises(InvalidParameterError, match="decreasing"):
        Prefixes(*lengths)


@given(
    st.sets(st.text(st.sampled_from("01 é\x00\x01"), max_size=5), min_size=1, max_size=15),
    st.sets(st.integers(1, 6)).map(lambda lengths: sorted(lengths, reverse=True)),
)
@examples(100)
def test_every_label_is_the_filled_prefix(check_laws, codes, lengths):
    tree = Prefixes(*lengths).build(pa.array(sorted(codes), pa.string()))
    check_laws(tree)
    longest = max(map(len, codes))
    assert set(tree.leaves) == codes
    for level, length in enumerate(lengths or range(longest - 1, 0, -1), start=1):
        for code, node in zip(tree.leaves, tree.levels[level], strict=True):
            filled = code.ljust(longest)
            expected = filled[:length] + "*" * (longest - length) if length < longest else code
            assert tree.labels[level][node] == expected


def test_repr_is_what_a_user_would_write():
    assert repr(Prefixes()) == "Prefixes()"
    assert repr(Prefixes(4, 2)) == "Prefixes(4, 2)"


def test_the_end_can_be_kept_instead():
    tree = Prefixes(keep="last").build(pa.array(["53715", "24715", "90213"]))
    assert tree.leaves == ("90213", "53715", "24715")
    assert tree.labels[1:] == (
        ("*0213", "*3715", "*4715"),
        ("**213", "**715"),
        ("***13", "***15"),
        ("****3", "****5"),
        ("*",),
    )
    assert repr(Prefixes(3, keep="last")) == "Prefixes(3, keep='last')"
    with pytest.raises(InvalidParameterError, match="keep must be 'first' or 'last'"):
        Prefixes(keep="middle")


@given(st.lists(st.text("123", max_size=5), unique=True), st.sampled_from([(), (3,), (4, 2)]))
def test_keeping_the_end_is_keeping_the_beginning_of_codes_written_backward(codes, lengths):
    turned = Prefixes(*lengths).build(pa.array([code[::-1] for code in codes], pa.string()))
    tree = Prefixes(*lengths, keep="last").build(pa.array(codes, pa.string()))
    assert tree.labels == tuple(tuple(label[::-1] for label in level) for level in turned.labels)
    assert [level.tolist() for level in tree.levels] == [level.tolist() for level in turned.levels]
