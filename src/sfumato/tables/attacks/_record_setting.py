"""What attacks on records work on: a published table, the original, and persons who were not used for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._optional import import_optional
from sfumato._randomness import seeded_generator
from sfumato.errors import SchemaError
from sfumato.io._values import format_values, is_metric_type
from sfumato.schema.schema import Schema
from sfumato.tables.attacks._beliefs import Ints
from sfumato.tables.attacks._gower import ComparedRecords
from sfumato.tables.attacks._record_results import Z, auc_with_error
from sfumato.tables.published.solution import SUPPRESSED_TEXT

FEWEST = 30
FEW = 100
FOREIGN = 0.5  # of a column's cells; where more of them are values that nobody has, the column is generalized
SAME_POPULATION = 0.55
MOST_COMPARED = 2000
COVERING = "singling-out, linkage, homogeneity and the other attacks of sf.attack"


@dataclass(frozen=True, eq=False, repr=False)
class RecordSetting:
    """Records of the published table, the original and the control, coded alike, and whom to attack.

    `names` are the columns that can be compared, `generalized` those that cannot. `targets` and `controls` are rows of
    the original and of the control; there are none without a control.
    """

    records: ComparedRecords
    schema: Schema | None
    names: tuple[str, ...]
    generalized: tuple[str, ...]
    targets: Ints
    controls: Ints
    seed: int

    @property
    def controlled(self) -> bool:
        """Whether there is a control."""
        return "control" in self.records.rows

    def rng(self, purpose: int) -> np.random.Generator:
        """Make a generator for one purpose, so that attacks do not depend on which others are run."""
        return seeded_generator(self.seed + purpose)

    def attacked(self) -> list[tuple[str, Ints]]:
        """Return the tables that are attacked, and the rows of each."""
        return [("original", self.targets), *([("control", self.controls)] if self.controlled else [])]


def prepare_record_setting(
    published: pa.Table,
    original: pa.Table,
    control: pa.Table | None,
    *,
    schema: Schema | None,
    targets: int,
    seed: int,
) -> RecordSetting:
    """Code the tables, draw targets, and refuse what would make the figures mean nothing."""
    tables = {"original": original, "published": published} | ({} if control is None else {"control": control})
    for which, table in tables.items():
        if table.num_rows < FEWEST:
            raise SchemaError(f"The {which} table has {table.num_rows} rows; attacks need at least {FEWEST}.")
    wanted = set(original.column_names if schema is None else schema.attributes)
    wanted -= set(() if schema is None else schema.identifiers)
    shared = [
        name
        for name in original.column_names
        if name in wanted and all(name in table.column_names for table in tables.values())
    ]
    generalized = tuple(name for name in shared if _is_generalized(name, published, original, control))
    names = tuple(name for name in shared if name not in generalized)
    if not names:
        raise SchemaError(
            f"No column of the published table holds values as persons have them; for generalizations take {COVERING}."
        )
    if control is not None:
        _reject_shared_rows(original, control, names)
    records = ComparedRecords.of(tables, names)
    if control is not None:
        _check_same_population(records, names, seed)
    rng = seeded_generator(seed)
    people = np.sort(rng.permutation(original.num_rows)[:targets])
    others = np.zeros(0, dtype=np.int64)
    if control is not None:
        others = np.sort(rng.permutation(control.num_rows)[: len(people)])
    return RecordSetting(records, schema, names, generalized, people, others, seed)


def _is_generalized(name: str, published: pa.Table, original: pa.Table, control: pa.Table | None) -> bool:
    """Tell whether a published column holds intervals, sets or nodes in place of values."""
    shown, held = published[name], original[name]
    if shown.null_count == len(shown):
        return False
    if is_metric_type(held.type):
        return not is_metric_type(shown.type)
    written = format_values(shown)
    known = pa.concat_arrays([format_values(each[name]) for each in (original, control) if each is not None])
    foreign = pc.invert(pc.is_in(written, value_set=pc.unique(known)))
    share = pc.mean(pc.fill_null(foreign, False).cast(pa.float64())).as_py()  # noqa: FBT003 - an Arrow function
    return bool(share > FOREIGN or pc.any(pc.equal(written, SUPPRESSED_TEXT)).as_py())


def _reject_shared_rows(original: pa.Table, control: pa.Table, names: Sequence[str]) -> None:
    """Refuse a control with rows of the original, unless rows are alike by chance there, too."""
    rows = [
        list(zip(*(format_values(table[name]).to_pylist() for name in names), strict=True))
        for table in (original, control)
    ]
    known = set(rows[0])
    alike = sum(row in known for row in rows[1])
    repeated = len(rows[0]) - len(known)
    if alike / len(rows[1]) > 2 * repeated / len(rows[0]) + 0.01:
        raise SchemaError(
            f"{alike:,} of {len(rows[1]):,} rows of the control are rows of the original, too; take persons who were "
            "not used for the release."
        )


def _check_same_population(records: ComparedRecords, names: Sequence[str], seed: int) -> None:
    """Refuse a control that a classifier tells from the original; without scikit-learn nothing is compared."""
    try:
        ensemble = import_optional("sklearn.ensemble", extra="learn", error=SchemaError)
    except SchemaError:
        return
    rng = seeded_generator(seed)
    rows = {which: rng.permutation(records.rows[which])[:MOST_COMPARED] for which in ("original", "control")}
    parts = {
        which: np.column_stack([np.nan_to_num(records.values(which, name), nan=-1.0)[at] for name in names])
        for which, at in rows.items()
    }
    scores = {which: np.empty(len(part)) for which, part in parts.items()}
    for fold in (0, 1):
        train = [part[fold::2] for part in parts.values()]
        model = ensemble.RandomForestClassifier(n_estimators=60, min_samples_leaf=5, random_state=0)
        model.fit(np.vstack(train), np.repeat([1, 0], [len(each) for each in train]))
        for which, part in parts.items():
            scores[which][1 - fold :: 2] = model.predict_proba(part[1 - fold :: 2])[:, 1]
    area, error = auc_with_error(scores["original"], scores["control"])
    if area - Z * error > SAME_POPULATION:
        raise SchemaError(
            f"The control is of another population than the original: a classifier tells them apart ({area:.2f}); take "
            "persons who were drawn in the same way."
        )
