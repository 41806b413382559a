"""Rows with attributes and sets: both promises are kept together, inside every group."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.datasets.retail import generate_transactions
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError, UnsupportedModelError
from sfumato.transactions.algorithms.apriori_on_clusters import AprioriOnClusters
from sfumato.transactions.models.km_anonymity import KmAnonymity
from sfumato.transactions.models.on_clusters import OnClusters
from sfumato.transactions.table_with_transactions import TableWithTransactions

SCHEMA = sf.Schema(identifiers=["name"], quasi_identifiers=["age", "sex"], sensitive=["ward"], insensitive=["tag"])
BOTH = [OnClusters(model=sf.models.KAnonymity(k=20)), KmAnonymity(k=3, m=2)]


@pytest.fixture(scope="module")
def patients():
    baskets, tree = generate_transactions(200, items=25, mean_length=3, seed=4)
    rng = np.random.Generator(np.random.PCG64(1))
    lists = [each if rng.random() < 0.8 else [] for each in baskets.to_lists()]
    frame = pa.table(
        {
            "name": [f"canary {number}" for number in range(200)],
            "age": rng.integers(0, 90, 200),
            "sex": rng.choice(["f", "m"], 200),
            "ward": rng.choice(["a", "b"], 200),
            "tag": np.arange(200),  # links rows to their originals, for the test alone
            "ills": lists,
        }
    )
    return TableWithTransactions(frame, SCHEMA, item="ills"), tree


@pytest.fixture(scope="module")
def release(patients):
    rows, tree = patients
    return sf.transactions.anonymize(rows, models=BOTH, algorithm=AprioriOnClusters(taxonomy=tree), secret="5f" * 32)


def test_both_promises_hold_together(release):
    assert release.audit.holds
    assert release.audit.level("table-promise") >= 20
    published = release.published
    lists, groups = published.to_lists(), published.class_labels
    for group in np.unique(groups):
        held = [set(lists[row]) for row in np.flatnonzero(groups == group)]
        for basket in held:
            for one in basket:
                for two in basket:
                    assert sum({one, two} <= other for other in held) >= 3


def test_every_row_keeps_what_stands_for_its_own_items(patients, release):
    rows, tree = patients
    paths = {row[0]: set(row) for row in tree.rows}
    original = dict(zip(rows.rows.tolist(), rows.transactions.to_lists(), strict=True))
    lists = release.published.to_lists()
    for tag, items in zip(release.published.table["tag"].to_pylist(), lists, strict=True):
        own = original.get(tag, [])
        assert all(any(item in paths[leaf] for leaf in own) for item in items)
        assert not items or all(paths[leaf] & set(items) for leaf in own)
    assert sum(map(bool, lists)) > 100


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_files_are_judged_by_themselves(tmp_path, release, form):
    release.write(tmp_path / "out", table_format=form)
    read = sf.transactions.read_published(tmp_path / "out" / "public")
    assert read == release.published
    assert sf.transactions.audit(read, models=BOTH).holds
    assert "canary" not in "".join(path.read_text("latin-1") for path in (tmp_path / "out" / "public").iterdir())
    assert repr(read).startswith("<PublishedTableWithTransactions: 200 rows")


def test_the_recipe_makes_the_same_release(tmp_path, patients, release):
    rows, _ = patients
    release.write(tmp_path / "out", report=False)
    recipe = sf.transactions.read_recipe(tmp_path / "out" / "internal" / "recipe.toml")
    assert recipe.models == tuple(BOTH)
    assert recipe.input["attributes"]["ward"]["role"] == "sensitive"
    assert sf.transactions.run_recipe(recipe, rows).published == release.published


def test_groups_with_few_sets_lose_their_items():
    frame = pa.table({"age": [1, 1, 1, 90, 90, 90], "ills": [["a"], ["a"], ["b"], ["a"], None, []]})
    rows = TableWithTransactions(frame, sf.Schema(quasi_identifiers=["age"]), item="ills")
    tree = sf.hierarchies.Taxonomy(["a", "b"])
    asked = [OnClusters(model=sf.models.KAnonymity(k=3)), KmAnonymity(k=2, m=1)]
    release = sf.transactions.anonymize(rows, models=asked, algorithm=AprioriOnClusters(taxonomy=tree))
    assert sorted(release.published.to_lists()) == [[], [], [], ["*"], ["*"], ["*"]]
    assert release.metrics["occurrences lost"] == 0.25
    with pytest.raises(InfeasibleError, match="No group of the table has 4 rows with items"):
        sf.transactions.anonymize(
            rows, models=[asked[0], KmAnonymity(k=4, m=1)], algorithm=AprioriOnClusters(taxonomy=tree)
        )


def test_what_does_not_fit_is_refused(patients):
    rows, tree = patients
    search = AprioriOnClusters(taxonomy=tree)
    with pytest.raises(InvalidParameterError, match="Promise both"):
        sf.transactions.anonymize(rows, models=[KmAnonymity(k=2, m=1)], algorithm=search)
    with pytest.raises(InvalidParameterError, match="needs rows with sets"):
        sf.transactions.anonymize(rows.transactions, models=BOTH, algorithm=search)
    with pytest.raises(UnsupportedModelError, match="needs rows with sets"):
        BOTH[0].evaluate(rows.transactions)
    with pytest.raises(SchemaError, match="no column 'pills'"):
        TableWithTransactions(pa.table({"a": [1]}), sf.Schema(quasi_identifiers=["a"]), item="pills")
    with pytest.raises(InvalidParameterError, match=r"OnClusters\.model"):
        OnClusters(model=3)
    with pytest.raises(InvalidParameterError, match=r"AprioriOnClusters\.table_algorithm"):
        AprioriOnClusters(taxonomy=tree, table_algorithm=3)
    assert repr(rows).startswith("<TableWithTransactions: 200 rows")


def test_rows_with_sets_have_a_usual_search_of_their_own():
    rows = TableWithTransactions(
        pa.table({"age": [30, 31, 32, 33], "items": [["a"], ["a"], ["b"], ["b"]]}),
        sf.Schema(quasi_identifiers=["age"]),
        item="items",
    )
    promised = [OnClusters(model=sf.models.KAnonymity(k=2)), KmAnonymity(k=2, m=1)]
    assert sf.transactions.anonymize(rows, models=promised).recipe.algorithm.name == "within-groups"
    with pytest.raises(UnsupportedModelError, match="No algorithm keeps coherence"):
        sf.transactions.anonymize(rows, models=[sf.transactions.Coherence(h=0.5, k=2, p=1)])
