"""Published tables in which rows repeat, and the same as counts: distinct rows, and the records of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from strategies import DISEASES, JOBS

if TYPE_CHECKING:
    from random import Random

    import numpy.typing as npt

COUNT = "how many records"
MODELS_ASKED = [
    sf.models.KAnonymity(k=3),
    sf.models.DistinctLDiversity(l=2, sensitive="disease"),
    sf.models.FrequencyLDiversity(l=2, sensitive="pay"),
    sf.models.EntropyLDiversity(l=1.5, sensitive="disease"),
    sf.models.RecursiveLDiversity(c=1.5, l=2, sensitive="disease"),
    sf.models.TCloseness(t=0.4, sensitive="disease"),
    sf.models.TCloseness(t=0.3, sensitive="pay", distance="ordered"),
    sf.models.TCloseness(t=0.3, sensitive="disease", distance="hierarchical"),
    sf.models.NTCloseness(n=4, t=0.35, sensitive="disease"),
    sf.models.PSensitiveKAnonymity(p=2, k=3, sensitive="disease"),
    sf.models.PPlusSensitiveKAnonymity(
        p=2, k=2, sensitive="disease", categories={name: name[0] for name in DISEASES.hierarchy.leaves}
    ),
    sf.models.HPKAnonymity(
        h=2,
        p=2,
        k=2,
        sensitive="disease",
        sensitivity_levels={name: len(name) % 2 for name in DISEASES.hierarchy.leaves},
    ),
    sf.models.AlphaKAnonymity(alpha=0.5, k=2, sensitive="disease"),
    sf.models.ConfidenceBounding(bounds={"flu": 0.3, "ulcer": 0.5}, sensitive="disease"),
    sf.models.KEAnonymity(k=2, e=1.5, sensitive="pay"),
    sf.models.EpsilonMAnonymity(epsilon=1, m=2, sensitive="pay"),
    sf.models.BetaLikeness(beta=0.8, sensitive="disease"),
    sf.models.DeltaDisclosure(delta=1.2, sensitive="disease"),
    sf.models.KLAnonymity(k=2, l=1.5, sensitive="disease"),
    sf.models.XYAnonymity(k=2, y="disease", x=["job"], h=0.7),
    sf.models.KMap(k=4, fraction=0.5),
    sf.models.KMap(k=4),
    sf.models.DeltaPresence(delta_min=0.1, delta_max=0.9),
    sf.models.MInvariance(m=2, sensitive="disease"),
    sf.models.BoundedSeriesDisclosure(limit=0.6, sensitive="disease"),
    sf.models.MDistinct(m=2, sensitive="disease", stays={"flu": ["cold"], "cold": ["flu"]}),
]
AGES = st.none() | st.sampled_from(["18", "19", "20", "[18, 19]", "*"])
WORK = st.none() | st.sampled_from(["clerk", "sailor", "diver", "sea", "*"])
BUCKETS = st.none() | st.integers(0, 2)
DISEASE = st.none() | st.sampled_from(["flu", "cold", "ulcer"])
PAY = st.none() | st.integers(0, 3)
STARRED_PAY = st.sampled_from([None, "0", "1.5", "2", "*"])


def schema_of(missing: MissingPolicy, **settings) -> Schema:
    roles = {"quasi_identifiers": ["age", "job"], "sensitive": ["disease", "pay"], **settings}
    return Schema(**roles, hierarchies={"job": JOBS, "disease": DISEASES}, missing=missing)


@st.composite
def published_tables(draw: st.DrawFn, *, most_rows: int = 25, buckets: bool = True) -> pa.Table:
    """Draw a published table in which records repeat; sensitive values may be starred, and cells in buckets."""
    people = draw(st.lists(st.tuples(AGES, WORK), min_size=1, max_size=4))
    disease = DISEASE | st.just("*") if draw(st.booleans()) else DISEASE
    pay, known, kind = draw(st.sampled_from([(PAY, [1], pa.int64()), (STARRED_PAY, ["1", "*"], pa.string())]))
    rows = st.tuples(st.sampled_from(people), disease, pay, st.tuples(BUCKETS, BUCKETS, BUCKETS))
    distinct = draw(st.lists(rows, min_size=1, max_size=8))
    first = [(*distinct[0][:2], each, distinct[0][3]) for each in known]  # distances need a value
    more = draw(st.integers(0, most_rows - 2))
    drawn = [*first, *draw(st.lists(st.sampled_from(distinct), min_size=more, max_size=more))]
    columns = {
        "age": pa.array([age for (age, _), _, _, _ in drawn], pa.string()),
        "job": pa.array([job for (_, job), _, _, _ in drawn], pa.string()),
        "disease": pa.array([value for _, value, _, _ in drawn], pa.string()),
        "pay": pa.array([value for _, _, value, _ in drawn], kind),
    }
    for at, name in enumerate(["job", "disease", "pay"]):
        if buckets and draw(st.booleans()):
            columns[f"_bucket_{name}"] = pa.array([numbers[at] for _, _, _, numbers in drawn], pa.int64())
    return pa.table(columns)


def counted_rows(table: pa.Table, random: Random) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Count equal rows; some counts are split in two, for nothing may depend on rows being distinct."""
    whole = table.append_column(COUNT, pa.array(np.ones(table.num_rows, dtype=np.int64)))
    counted = whole.group_by(table.column_names).aggregate([(COUNT, "sum")])
    weights = np.asarray(counted[f"{COUNT}_sum"])
    split = [at for at, weight in enumerate(weights.tolist()) if weight > 1 and random.random() < 0.2]
    places = [*range(len(weights)), *split]
    weights = np.append(weights, [1] * len(split)).astype(np.int64)
    weights[split] -= 1
    order = random.sample(range(len(places)), len(places))
    rows = counted.select(table.column_names).take(pa.array([places[at] for at in order]))
    return rows.cast(table.schema), weights[order]
