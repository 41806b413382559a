"""Baskets: what goes in comes out, in every form, and nothing of it shows where it should not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

import sfumato as sf
from basket_oracle import baskets_of
from drawn_examples import examples
from sfumato.errors import ReadError, SchemaError, SfumatoError
from sfumato.transactions._ordering import order_by_content, order_by_gray_code

LONG = {"who": [1, 1, 2, 3, 3, 1], "what": ["b", "a", "a", "c", "c", "a"]}
LISTS = {"what": [["b", "a"], ["a"], [], ["c", "c"]]}
FRAMES = [pa.table, pd.DataFrame, pl.DataFrame, pl.LazyFrame]


@pytest.mark.parametrize("frame", FRAMES)
def test_every_form_of_a_table_gives_the_same_baskets(frame):
    long = sf.transactions.Transactions(frame(LONG), person="who", item="what")
    lists = sf.transactions.Transactions(frame(LISTS))
    assert long.to_lists() == lists.to_lists() == [["a", "b"], ["a"], ["c"]]
    assert long == lists
    assert (long.empty, lists.empty) == (0, 1)


def test_baskets_of_one_person_are_united_and_counted():
    rows = pa.table({"who": ["x", "y", "x"], "what": [["a"], ["b"], ["c", "a"]]})
    united = sf.transactions.Transactions(rows, person="who")
    assert united.to_lists() == [["a", "c"], ["b"]]
    assert united.united == 1


def test_numbers_are_items_by_their_canonical_text():
    assert sf.transactions.Transactions([[1, 2.0], ["2"]]).items == ("1", "2")
    assert sf.transactions.Transactions([[10, 9]]).items == ("10", "9")


def test_no_item_shows_in_a_representation_or_a_refusal():
    baskets = sf.transactions.Transactions([["canary", "other"], []], sensitive=["canary"])
    assert repr(baskets) == "<Baskets: 1 baskets, 2 items, 1 of them sensitive, 2 occurrences, 1 empty basket left out>"
    for refused in (
        lambda: baskets.encode(["secret"]),
        lambda: sf.transactions.Transactions([["a"]], sensitive=["secret"]),
    ):
        with pytest.raises(SchemaError, match="1 of 1") as error:
            refused()
        assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: sf.transactions.Transactions([]), "no baskets with items"),
        (lambda: sf.transactions.Transactions([[], []]), "no baskets with items"),
        (lambda: sf.transactions.Transactions(["ab"]), "must be a list of items"),
        (lambda: sf.transactions.Transactions([["a", None]]), "1 items are missing"),
        (lambda: sf.transactions.Transactions([[1.5, float("nan")]]), "1 items are missing"),
        (lambda: sf.transactions.Transactions([["a", " "]]), "has no name"),
        (lambda: sf.transactions.Transactions([["a"]], person="who"), "have no columns"),
        (lambda: sf.transactions.Transactions(pa.table({"who": ["x"], "what": ["a"]})), "Say which column"),
        (lambda: sf.transactions.Transactions(pa.table({"what": ["a"]})), "needs the column of persons"),
        (
            lambda: sf.transactions.Transactions(pa.table({"who": ["x"], "what": ["a"]}), person="whoo"),
            "did you mean 'who'",
        ),
        (
            lambda: sf.transactions.Transactions(pa.table({"who": [None], "what": ["a"]}), person="who"),
            "do not say whose",
        ),
        (lambda: sf.transactions.Transactions(3), "must be a pandas, Polars or Arrow table"),
    ],
)
def test_what_is_no_basket_is_refused_in_one_sentence(make, said):
    with pytest.raises(SchemaError, match=said) as error:
        make()
    assert str(error.value).count(". ") == 0


def test_files_give_the_same_baskets(tmp_path):
    lists = [["bread", "milk"], ["milk", "NA"], ["3"]]
    (tmp_path / "fimi.dat").write_text("bread milk\nNA milk\n\n3\n")
    (tmp_path / "long.csv").write_text("who,what\nx,bread\nx,milk\ny,milk\ny,NA\nz,3\n")
    pq.write_table(pa.table({"items": lists}), tmp_path / "lists.parquet")
    expected = sf.transactions.Transactions(lists)
    assert sf.transactions.read(tmp_path / "fimi.dat") == expected
    assert sf.transactions.read(tmp_path / "fimi.dat").empty == 1
    assert sf.transactions.read(tmp_path / "long.csv", person="who") == expected
    assert sf.transactions.read(tmp_path / "lists.parquet") == expected


def test_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "latin.dat").write_bytes("café\n".encode("latin-1"))
    (tmp_path / "not.parquet").write_text("no")
    for name in ("latin.dat", "not.parquet", "absent.dat"):
        with pytest.raises(ReadError):
            sf.transactions.read(tmp_path / name)


@examples(30)
@given(baskets_of())
def test_the_order_by_content_is_that_of_sorted_lists(lists):
    baskets = sf.transactions.Transactions(lists)
    order = order_by_content(baskets.codes, baskets.offsets)
    held = baskets.to_lists()
    assert [held[at] for at in order] == sorted(held)
    assert baskets.ordered().to_lists() == sorted(held)


@examples(30)
@given(baskets_of())
def test_the_order_by_gray_code_is_that_of_the_bits(lists):
    baskets = sf.transactions.Transactions(lists)
    order = order_by_gray_code(baskets.codes, baskets.offsets)

    def rank(row: int) -> int:
        bits = np.isin(np.arange(len(baskets.items)), baskets.codes[baskets.offsets[row] : baskets.offsets[row + 1]])
        number = 0
        for bit in np.cumsum(bits) % 2:  # a Gray code is read by the parity of its bits so far
            number = 2 * number + int(bit)
        return number

    ranks = [rank(row) for row in order]
    assert ranks == sorted(ranks)


def test_parts_keep_what_is_known_of_items():
    codes, offsets = np.array([0, 1, 2, 3]), np.array([0, 2, 3, 4])
    within = np.array([2, 2, 3, -1])
    made = sf.transactions.Transactions.from_codes(codes, offsets, ["a1", "a2", "A", "*"], within=within)
    assert dict(zip(made.items, made.within.tolist(), strict=True)) == {"*": -1, "A": 0, "a1": 1, "a2": 1}
    some = made.take(np.array([0, 2]))  # without A, the root is what stands for a1
    assert some.items == ("*", "a1", "a2")
    assert some.within.tolist() == [-1, 0, 0]


JOINED = {"who": ["ann", "bob", "cyd"], "what": ["milk,bread", "milk", "bread, beer,milk"]}


def test_lists_that_are_joined_in_a_cell_are_not_taken_for_one_item():
    table = pa.table(JOINED)
    with pytest.raises(SchemaError, match="'what' looks like lists: 2 of its 3 cells hold a ','") as error:
        sf.transactions.Transactions(table, person="who", item="what")
    assert "milk" not in str(error.value)
    parted = sf.transactions.Transactions(table, person="who", item="what", item_separator=",")
    assert parted.to_lists() == [["bread", "milk"], ["milk"], ["beer", "bread", "milk"]]
    assert sf.transactions.Transactions(table, person="who", item="what", item_separator="").items == tuple(
        sorted(JOINED["what"])
    )
    names = {"who": ["ann", "ann", "bob", "bob"], "what": ["screws, 5 mm", "milk", "milk", "nails"]}
    assert len(sf.transactions.Transactions(pa.table(names), person="who", item="what").items) == 3
    alone = pa.table({"what": ["a|b", "b|c", None, "c"]})
    with pytest.raises(SchemaError, match="looks like lists"):
        sf.transactions.Transactions(alone)
    assert sf.transactions.Transactions(alone, item_separator="|").to_lists() == [["a", "b"], ["b", "c"], ["c"]]


@pytest.mark.parametrize(
    "text",
    [
        "whole milk,yogurt\ntropical fruit,yogurt,coffee\nwhole milk\ncoffee,yogurt,whole milk,tropical fruit\n",
        "whole milk,yogurt,,\ntropical fruit,yogurt,coffee,\nwhole milk,,,\ncoffee,yogurt,whole milk,tropical fruit\n",
        "whole milk;yogurt\n\ntropical fruit;yogurt;coffee\nwhole milk\ncoffee;yogurt;whole milk;tropical fruit\n",
    ],
)
def test_lines_of_items_are_baskets(tmp_path, text):
    (tmp_path / "shop.csv").write_text(text)
    with pytest.warns(sf.errors.ReadWarning, match="each of its 4 lines is read as a basket"):
        baskets = sf.transactions.read(tmp_path / "shop.csv")
    assert baskets.to_lists()[:3] == [["whole milk", "yogurt"], ["coffee", "tropical fruit", "yogurt"], ["whole milk"]]


@pytest.mark.parametrize(
    "text",
    [
        "who,what\nann,milk,bread\nbob,milk\ncyd,milk,beer,bread\n",
        "who,age,what\nann,30,milk\nbob,,milk\ncyd,40,beer\n",
        "",
    ],
)
def test_lines_with_persons_are_no_baskets(tmp_path, text):
    (tmp_path / "shop.csv").write_text(text)
    with pytest.raises(SfumatoError):
        sf.transactions.read(tmp_path / "shop.csv")
