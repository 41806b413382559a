"""Small tasks for searches over lattices: tables that leave no corner out, and models of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf
from sfumato._progress import ignore_progress
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.testing._requests import MaxGroupSize
from sfumato.testing.models import make_categorical_domain, make_numeric_domain
from strategies import hierarchies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sfumato._progress import Progress
    from sfumato.tables.algorithms.full_domain._losses import RecodingLoss
    from sfumato.tables.algorithms.full_domain._recodings import Recodings
    from sfumato.tables.models.base import GroupModel

VALUES = 4
S, U = {"sensitive": "s"}, {"sensitive": "number"}
SENSITIVE = {"s": make_categorical_domain("s", VALUES), "number": make_numeric_domain("number", VALUES)}
LOST, UNMERGED = 0.3, 0.6
HALVES = {f"value {i}": f"half {i % 2}" for i in range(VALUES)}

MODELS: tuple[tuple[GroupModel, ...], ...] = (
    (),
    (sf.models.KAnonymity(k=1),),
    (sf.models.KAnonymity(k=2),),
    (sf.models.KAnonymity(k=4),),
    (sf.models.DistinctLDiversity(l=2, **S),),
    (sf.models.DistinctLDiversity(l=3, **S), sf.models.KAnonymity(k=4)),
    (sf.models.FrequencyLDiversity(l=2, **S),),
    (sf.models.EntropyLDiversity(l=1.7, **S),),
    (sf.models.RecursiveLDiversity(c=2, l=2, **S),),
    (sf.models.RecursiveLDiversity(c=1.5, l=1, **S), sf.models.DistinctLDiversity(l=2, **U)),
    (sf.models.TCloseness(t=0.3, **S),),
    (sf.models.KAnonymity(k=2), sf.models.TCloseness(t=0.4, **S)),
    (sf.models.TCloseness(t=0.2, distance="ordered", **S),),
    (sf.models.KAnonymity(k=2), sf.models.TCloseness(t=0.4, compared_with="original", **S)),
    (sf.models.TCloseness(t=0.25, distance="hierarchical", **S),),
    (sf.models.TCloseness(t=0.3, distance="kl", **S),),
    (sf.models.TCloseness(t=0.3, **S), sf.models.TCloseness(t=0.4, **U)),
    (sf.models.PSensitiveKAnonymity(p=2, k=3, **S),),
    (sf.models.PPlusSensitiveKAnonymity(p=2, k=2, categories=HALVES, **S),),
    (sf.models.HPKAnonymity(h=2, p=2, k=3, sensitivity_levels=HALVES, **S),),
    (sf.models.AlphaKAnonymity(alpha=0.6, k=2, **S),),
    (sf.models.AlphaKAnonymity(alpha=0.4, k=2, values=["value 0"], **S),),
    (sf.models.ConfidenceBounding(bounds=0.6, **S),),
    (sf.models.ConfidenceBounding(bounds={"value 0": 0.3, "value 2": 0.5}, **S),),
    (sf.models.KEAnonymity(k=2, e=1, **U),),
    (sf.models.EpsilonMAnonymity(epsilon=0.5, m=2, **U),),
    (sf.models.EpsilonMAnonymity(epsilon=0.4, m=2, relative=True, **U),),
    (sf.models.NTCloseness(n=4, t=0.3, **S),),
    (sf.models.BetaLikeness(beta=0.9, **S),),
    (sf.models.BetaLikeness(beta=1.2, enhanced=True, **S),),
    (sf.models.DeltaDisclosure(delta=1.4, **S),),
    (sf.models.DeltaDisclosure(delta=1.1, present_only=True, **S),),
    (sf.models.KLAnonymity(k=3, l=1.8, **S),),
    (sf.models.XYAnonymity(k=2, y="s"),),
    (sf.models.XYAnonymity(k=2, y="s", h=0.7),),
    (sf.models.KMap(k=5, fraction=0.3),),
    (sf.models.MInvariance(m=2, **S),),
    (sf.models.BoundedSeriesDisclosure(limit=0.6, **S),),
    (sf.models.MDistinct(m=2, stays={"value 0": ["value 1"], "value 1": ["value 0"]}, **S),),
    (MaxGroupSize(k=4),),
    (MaxGroupSize(k=6), sf.models.KAnonymity(k=2)),
    (MaxGroupSize(k=7), sf.models.TCloseness(t=0.5, **S)),
    (sf.models.EntropyLDiversity(l=1.5, **S), sf.models.TCloseness(t=0.4, **U), sf.models.KAnonymity(k=2)),
)


@dataclass(frozen=True, kw_only=True)
class Handing(Optimal):
    """Explore nothing: hand out the recodings and the loss that a search would work with."""

    def _explore(self, recodings: Recodings, loss: RecodingLoss, *, complete: bool) -> RecodingLoss:  # type: ignore[override]  # only for tests
        del recodings, complete
        return loss


def handed(
    name: str,
    task: TableRequest,
    *,
    weights: Mapping[str, float] | None = None,
    factor: float = 0.5,
    target: str | None = None,
) -> tuple[RecodingLoss, Recodings]:
    """Make a loss, and the recodings that it compares."""
    recodings, loss = Handing(loss=name, weights=weights, suppression_factor=factor, target=target).explore(task)
    return loss, recodings  # type: ignore[return-value]  # see above


@st.composite
def tasks(
    draw: st.DrawFn,
    models: Sequence[GroupModel] | None = None,
    *,
    most_rows: int = 16,
    most_quasi: int = 3,
    limit: int | None = None,
) -> TableRequest:
    """Draw a task: quasi-identifiers of any height, some constant or missing, and a number of records to suppress."""
    rows = draw(st.sampled_from([most_rows, most_rows - 1, 1]) | st.integers(1, most_rows))
    names = [f"q{j}" for j in range(draw(st.sampled_from([most_quasi, 1, 2])))]
    quasi = tuple(draw(quasi_columns(rows=rows, name=name)) for name in names)
    chosen = draw(st.sampled_from(MODELS)) if models is None else models
    watched = sorted(
        {name for model in chosen for name in model.sensitive_attributes} | draw(st.sets(st.sampled_from(["s"])))
    )
    policies = list(MissingPolicy) if all(model.monotone for model in chosen) else [MissingPolicy.OWN_VALUE]
    lost = draw(st.booleans())
    sensitive = tuple(CodedColumn(SENSITIVE[name], draw(codes(VALUES + lost, rows))) for name in watched)
    classes = CodedColumn(make_categorical_domain("class", 3), draw(codes(3 + lost, rows)))
    most = (
        draw(st.sampled_from([0, rows // 5, rows // 3, rows]) | st.integers(0, rows))
        if limit is None
        else min(limit, rows)
    )
    table = CodedTable(rows, quasi, sensitive, {"class": classes})
    return make_task(table, chosen, most, draw(st.sampled_from(policies)))


def any_tasks(models: Sequence[GroupModel] | None = None) -> st.SearchStrategy[TableRequest]:
    """Draw small tasks that leave no corner out, and larger ones."""
    return tasks(models) | random_tasks(models)


def random_tasks(models: Sequence[GroupModel] | None = None) -> st.SearchStrategy[TableRequest]:
    """Draw larger tasks, by a seed: more rows, more nodes, groups of very different sizes."""
    return st.integers(0, 2**32 - 1).map(lambda seed: random_task(np.random.default_rng(seed), models))


def random_task(rng: np.random.Generator, models: Sequence[GroupModel] | None = None) -> TableRequest:
    """Draw a task from random numbers."""
    rows = int(rng.choice([rng.integers(1, 8), rng.integers(8, 25), rng.integers(20, 45)]))
    quasi = tuple(_random_column(rng, f"q{j}", rows) for j in range(int(rng.integers(1, 4))))
    chosen = MODELS[int(rng.integers(len(MODELS)))] if models is None else models
    names = sorted({name for model in chosen for name in model.sensitive_attributes})
    lost = int(rng.random() < LOST)
    sensitive = tuple(CodedColumn(SENSITIVE[name], _skewed(rng, VALUES + lost, rows)) for name in names)
    classes = CodedColumn(make_categorical_domain("class", 3), _skewed(rng, 3 + lost, rows))
    limit = int(rng.choice([0, rows, rows // 10, rng.integers(0, rows + 1)]))
    policies = list(MissingPolicy) if all(model.monotone for model in chosen) else [MissingPolicy.OWN_VALUE]
    table = CodedTable(rows, quasi, sensitive, {"class": classes})
    return make_task(table, chosen, limit, policies[int(rng.integers(len(policies)))])


def _random_column(rng: np.random.Generator, name: str, rows: int) -> CodedColumn:
    leaves = int(rng.choice([1, 2, 3, 4, 6]))
    texts = [f"leaf {i}" for i in range(leaves)]
    nodes, levels = np.arange(leaves), [texts]
    for level in range(int(rng.integers(0, 3))):
        starts = rng.random(int(nodes.max()) + 1) < UNMERGED
        starts[0] = False
        nodes = np.cumsum(starts)[nodes]
        levels.append([f"node {level} {node}" for node in nodes])
    tree = Hierarchy.from_levels(texts, levels, ordered=True) if len(levels) > 1 else None
    domain = Domain(name, Scale.NOMINAL if tree is None else Scale.CATEGORICAL, pa.array(texts), tree)
    return CodedColumn(domain, _skewed(rng, leaves + int(rng.random() < LOST), rows))


def _skewed(rng: np.random.Generator, width: int, rows: int) -> np.ndarray:
    return rng.choice(width, rows, p=rng.dirichlet(np.full(width, rng.choice([0.5, 1, 5])))).astype(np.uint8)


def make_task(
    table: CodedTable,
    models: Sequence[GroupModel],
    limit: int,
    missing: MissingPolicy = MissingPolicy.OWN_VALUE,
    progress: Progress = ignore_progress,
) -> TableRequest:
    """Make a task that needs no random numbers."""
    return TableRequest(
        table=table,
        models=models,
        max_suppressed=limit,
        missing=missing,
        rng=np.random.default_rng(0),
        progress=progress,
    )


@st.composite
def quasi_columns(draw: st.DrawFn, *, rows: int, name: str = "q") -> CodedColumn:
    """Draw a column: with a hierarchy or not, of several values, one or none, some of them missing."""
    leaves = draw(st.sampled_from([4, 3, 5, 2, 1, 0]))
    texts = [f"leaf {i}" for i in range(leaves)]
    steps = [texts, [f"node {i // 2}" for i in range(leaves)], [f"tree {i // 4}" for i in range(leaves)]]
    trees = st.just(Hierarchy.from_levels(texts, steps)) | hierarchies(texts, most_levels=3) if leaves else st.none()
    tree = draw(trees | st.none())
    scale = Scale.NOMINAL if tree is None else Scale.CATEGORICAL
    domain = Domain(name, scale, pa.array(texts, pa.string()), tree)
    return CodedColumn(domain, draw(codes(leaves + (leaves == 0 or draw(st.booleans())), rows)))


def codes(width: int, rows: int) -> st.SearchStrategy[np.ndarray]:
    """Draw one code per row."""
    return st.lists(st.integers(0, width - 1), min_size=rows, max_size=rows).map(
        lambda drawn: np.array(drawn, dtype=np.uint8)
    )
