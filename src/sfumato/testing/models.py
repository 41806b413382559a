# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every privacy model obeys.

`check_model(MyModel(k=3))` runs them all on your own model. Each check draws small tables from fixed seeds and
raises `AssertionError` if its law is broken. Use models with small parameters: the tables grow with
`smallest_required_class`.
"""

from __future__ import annotations

import contextlib
import pickle
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import tomli_w

from sfumato._randomness import seeded_generator
from sfumato._validation import is_finite_number
from sfumato.core.model import make_with_parameters
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Counts, Groups

# Small tables in groups, drawn from fixed seeds, on which laws of models are checked.

Labels = npt.NDArray[np.intp]
SEEDS = range(4)
GROUPS = 45


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedSample:
    """Records in groups, drawn so that some groups are diverse, some even, some skewed and some small.

    `persons` is the number of people in the population that each record represents, if the model needs one.
    """

    group: Labels
    columns: tuple[CodedColumn, ...]
    missing: MissingPolicy
    rng: np.random.Generator
    persons: Counts | None = None

    def count_groups(self, rows: Labels | slice = slice(None), *, labels: Labels | None = None) -> Groups:
        """Count some of the records, in their groups or in merged groups."""
        columns = [column.take(rows) for column in self.columns]
        group = self.group if labels is None else labels[self.group]
        groups = GROUPS if labels is None else int(labels.max()) + 1
        counted = Groups.from_rows(group[rows], groups, columns, self.missing)
        if self.persons is None:
            return counted
        return replace(counted, population=np.bincount(group[rows], self.persons[rows], groups).astype(np.int64))


def draw_grouped_samples(model: GroupModel, *policies: MissingPolicy, lost: float = 0.15) -> Iterator[GroupedSample]:
    """Draw records that give a model both valid and invalid groups, with some missing values."""
    values = 2 * model.min_group_size + 3
    domain = make_numeric_domain if model.numeric else make_categorical_domain
    for policy in policies:
        for seed in SEEDS:
            rng = seeded_generator(seed)
            sizes = rng.integers(1, 4 * model.min_group_size + 4, GROUPS)
            sizes[::5] = values * rng.integers(1, 3, len(sizes[::5]))
            group = rng.permutation(np.repeat(np.arange(GROUPS), sizes))
            columns = tuple(
                CodedColumn(domain(name, values), _draw_codes(rng, group, values, lost))
                for name in model.sensitive_attributes
            )
            persons = _draw_population_weights(rng, group) if model.needs_population else None
            yield GroupedSample(group=group, columns=columns, missing=policy, rng=rng, persons=persons)


def make_categorical_domain(name: str, values: int) -> Domain:
    """Make a domain with an order and a hierarchy: triples of neighbors, and triples of these."""
    leaves = [f"value {i}" for i in range(values)]
    threes, nines = [f"three {i // 3}" for i in range(values)], [f"nine {i // 9}" for i in range(values)]
    hierarchy = Hierarchy.from_levels(leaves, [leaves, threes, nines], ordered=True)
    return Domain(name, Scale.ORDINAL, pa.array(leaves), hierarchy)


def make_numeric_domain(name: str, values: int) -> Domain:
    """Make a domain of numbers with growing distances: 0, 0.5, 1.5, 3, 5 and so on."""
    steps = np.arange(values)
    return Domain(name, Scale.NUMERIC, pa.array(steps * (steps + 1) / 4))


def _draw_codes(rng: np.random.Generator, group: Labels, values: int, lost: float) -> npt.NDArray[np.unsignedinteger]:
    codes = np.empty(len(group), dtype=np.uint16)
    for number in range(GROUPS):
        rows = np.flatnonzero(group == number)
        order = rng.permutation(values)
        if number % 5 == 0:
            codes[rows] = np.resize(order, len(rows))
        elif number % 2:
            codes[rows] = np.resize(order[: rng.integers(1, values + 1)], len(rows))
        else:
            codes[rows] = order[np.minimum(rng.geometric(rng.uniform(0.1, 0.9), len(rows)), values) - 1]
    gone = (rng.random(len(group)) < lost) & (group % 3 > 0)
    codes[gone | ((group == 1) & (lost > 0))] = values
    return codes


def _draw_population_weights(rng: np.random.Generator, group: Labels) -> Counts:
    """Let records represent themselves and others: nobody else in some groups, very many in others."""
    others = np.append(rng.integers(0, 4, GROUPS - GROUPS // 5), rng.integers(10, 40, GROUPS // 5))
    return 1 + rng.poisson(others[group])


Oracle = Callable[[Sequence[int], Sequence[int]], Fraction | float]
TOLERANCE = 1e-9


def check_model(model: GroupModel) -> None:
    """Run every check on one model."""
    for check in MODEL_CHECKS:
        check(model)


def check_metadata(model: GroupModel) -> None:
    """A model states its name, its source, and in which direction each of its numbers gets stricter."""
    assert model.name == model.name.lower().replace(" ", "-")
    assert model.reference
    assert model.bound in {"min", "max"}
    numbers = {name for name, value in model.parameters().items() if is_finite_number(value)}
    assert numbers <= set(model.stricter) <= {field.name for field in fields(model)}  # type: ignore[arg-type]  # every model is a dataclass
    assert set(model.stricter.values()) <= {"larger", "smaller"}


def check_descriptions(model: GroupModel) -> None:
    """A model says what it promises with its parameters, which attack it stops, and its level; it quotes no values."""
    words = model.description
    assert words is not None
    assert words.title
    assert words.level
    attack, _, done = words.stops.partition(": ")
    assert attack, "the attack has no name"
    assert done.endswith("."), "after the name of the attack and a colon, say what an attacker does in it"
    assert set(words.further) <= {field.name for field in fields(model)}  # type: ignore[arg-type]  # every model is a dataclass
    try:
        sentence = words.sentence(model.parameters())
    except KeyError as error:
        raise AssertionError(f"{{{error.args[0]}}} is no parameter of the model") from None
    assert sentence.endswith(".")
    assert "{" not in sentence
    assert not any(f"“{value}”" in sentence for value in model.protected_values)


def check_every_group_has_a_level(model: GroupModel) -> None:
    """Every group has one level that is a number, finite or not; no groups have no levels."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        groups = sample.count_groups()
        level = model.levels(groups)
        assert level.shape == (len(groups),)
        assert level.dtype == np.float64
        assert not np.isnan(level).any()
        assert model.levels(groups.take(np.zeros(0, dtype=np.intp))).shape == (0,)


def check_verdict_matches_level(model: GroupModel) -> None:
    """A group keeps the promise if and only if its level reaches the limit, or does not exceed it."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        level = model.levels(sample.count_groups())
        gain = level - model.limit if model.bound == "min" else model.limit - level
        assert np.array_equal(model.satisfied_by(sample.count_groups()), gain > 0 if model.strict else gain >= 0)


def check_groups_are_not_modified(model: GroupModel) -> None:
    """Judging groups does not change them."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        groups, untouched = sample.count_groups(), sample.count_groups()
        model.satisfied_by(groups)
        assert np.array_equal(groups.sizes, untouched.sizes)
        for name, histogram in groups.histograms.items():
            for part in ("offsets", "codes", "counts", "missing"):
                assert np.array_equal(getattr(histogram, part), getattr(untouched.histograms[name], part))
            assert np.array_equal(groups.totals[name], untouched.totals[name])


def check_order_of_groups_is_ignored(model: GroupModel) -> None:
    """The level of a group does not depend on its position among the groups."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        groups, order = sample.count_groups(), sample.rng.permutation(GROUPS)
        assert _same(model.levels(groups.take(order)), model.levels(groups)[order])


def check_groups_are_independent(model: GroupModel) -> None:
    """The level of a group depends on the group and the totals of the table, not on other groups."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        groups = sample.count_groups()
        alone = [model.levels(groups.take(np.array([group])))[0] for group in range(GROUPS)]
        assert _same(np.array(alone), model.levels(groups))


def check_partial_counts_add_up(model: GroupModel) -> None:
    """Counting a table in parts and adding the counts gives the same levels as counting it at once."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        half = sample.rng.random(len(sample.group)) < 1 / 2
        pieces = sample.count_groups(np.flatnonzero(half)) + sample.count_groups(np.flatnonzero(~half))
        assert _same(model.levels(pieces), model.levels(sample.count_groups()))


def check_merging_equals_recounting(model: GroupModel) -> None:
    """Merging the counts of groups gives the same levels as counting the merged groups."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        labels = _random_unions(sample.rng, GROUPS)
        assert _same(
            model.levels(sample.count_groups().merge_groups(labels)), model.levels(sample.count_groups(labels=labels))
        )


def check_monotone(model: GroupModel) -> None:
    """A model that claims to be monotone is: merging valid groups gives a valid group."""
    for sample in draw_grouped_samples(model, *MissingPolicy) if model.monotone else ():
        groups = sample.count_groups()
        good = groups.take(np.flatnonzero(model.satisfied_by(groups)))
        if len(good):
            assert model.satisfied_by(good.merge_groups(_random_unions(sample.rng, len(good)))).all()


def check_not_monotone(model: GroupModel) -> None:
    """A model that claims not to be monotone is not: two valid groups are found that merging breaks."""
    assert model.monotone or any(
        _merge_violates(model, sample, good=True) for sample in draw_grouped_samples(model, *MissingPolicy)
    )


def check_not_extendable(model: GroupModel) -> None:
    """A model that claims not to be extendable is not: a valid group is found, and another that spoils it."""
    assert model.extendable or any(
        _merge_violates(model, sample, good=False) for sample in draw_grouped_samples(model, *MissingPolicy)
    )


def check_extendable(model: GroupModel) -> None:
    """A model that claims to be extendable is: a valid group stays valid whatever joins it."""
    for sample in draw_grouped_samples(model, *MissingPolicy) if model.extendable else ():
        groups, labels = sample.count_groups(), _random_unions(sample.rng, GROUPS)
        some_good = np.bincount(labels, weights=model.satisfied_by(groups)) > 0
        assert model.satisfied_by(groups.merge_groups(labels))[some_good].all()


def check_split_lower_bound(model: GroupModel) -> None:
    """However a group is split, at least as many of its records as the model says are in invalid parts."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        parts = sample.count_groups()
        lost = np.where(model.satisfied_by(parts), 0, parts.sizes)
        for labels in (np.arange(GROUPS), *(_random_unions(sample.rng, GROUPS) for _ in SEEDS)):
            said = model.min_violating_records(parts.merge_groups(labels))
            assert (said >= 0).all()
            assert (said <= np.bincount(labels, lost)).all()


def check_independent_of_table(model: GroupModel) -> None:
    """A model that does not claim to compare with the table does not: its levels stay when the totals change."""
    for sample in draw_grouped_samples(model, *MissingPolicy) if not model.compares_with_table else ():
        assert np.array_equal(model.levels(_with_other_totals(sample)), model.levels(sample.count_groups()))


def check_depends_on_table(model: GroupModel) -> None:
    """A model that claims to compare with the table does: in some table with other totals the levels differ."""
    assert not model.compares_with_table or any(
        not _same(model.levels(_with_other_totals(sample)), model.levels(sample.count_groups()))
        for sample in draw_grouped_samples(model, *MissingPolicy)
    )


def check_stricter_parameters_accept_less(model: GroupModel) -> None:
    """A stricter parameter never accepts a group that the model refuses."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        groups = sample.count_groups()
        for name, direction in model.stricter.items():
            if name not in model.parameters():
                continue
            value = _stricter_value(getattr(model, name), larger=direction == "larger")
            with contextlib.suppress(InvalidParameterError):  # p is already at most k
                stricter = replace(model, **{name: value})  # type: ignore[type-var]  # every model is a dataclass
                assert not (stricter.satisfied_by(groups) & ~model.satisfied_by(groups)).any()


def check_missing_values_never_help(model: GroupModel) -> None:
    """Values that may be anything never give a group a better level than any actual values would."""
    for sample in draw_grouped_samples(model, MissingPolicy.MATCHES_ALL):
        groups = sample.count_groups()
        level, kept = model.levels(groups), model.satisfied_by(groups)
        for columns in _fill_missing(sample):
            known = replace(groups, histograms=Groups.from_rows(sample.group, GROUPS, columns).histograms)
            known_level = model.levels(known)
            better = level > known_level if model.bound == "min" else level < known_level
            assert _same(level[better], known_level[better])
            assert model.satisfied_by(known)[kept].all()


def check_smallest_group(model: GroupModel) -> None:
    """No group smaller than `smallest_required_class` keeps the promise."""
    for sample in draw_grouped_samples(model, *MissingPolicy):
        groups = sample.count_groups()
        assert not model.satisfied_by(groups)[groups.sizes < model.min_group_size].any()


def check_serialization(model: GroupModel) -> None:
    """A model equals what its pickle and its parameters restore, also through a TOML file."""
    stored = tomllib.loads(tomli_w.dumps(model.parameters()))
    pickled = pickle.loads(pickle.dumps(model))  # noqa: S301 - made here
    restored = [make_with_parameters(type(model), given) for given in (model.parameters(), stored)]
    for copy in (pickled, *restored):
        assert copy == model
        assert hash(copy) == hash(model)


def check_level_equals_oracle(model: GroupModel, oracle: Oracle) -> None:
    """The level of every group is what the definition gives, and fractions are compared exactly.

    The oracle gets the counts of the values in one group and in the table, or only the two sizes for a model that
    reads no attribute; for one that needs a population, each size and the people. No value is missing.
    """
    for sample in draw_grouped_samples(model, MissingPolicy.OWN_VALUE, lost=0.0):
        groups = sample.count_groups()
        sizes = [groups.sizes] if groups.population is None else [groups.sizes, groups.population]
        rows, totals = np.stack(sizes, axis=1), np.sum(sizes, axis=1)
        for name in model.sensitive_attributes:
            rows, totals = _dense(groups, name), groups.totals[name][:-1]
        expected = [oracle(row, totals.tolist()) for row in rows.tolist()]
        assert _same(model.levels(groups), np.array(expected, dtype=np.float64))
        for kept, level in zip(model.satisfied_by(groups).tolist(), expected, strict=True):
            if not isinstance(level, float):
                gain = (level - Fraction(str(model.limit))) * (1 if model.bound == "min" else -1)
                assert kept == (gain > 0 if model.strict else gain >= 0)


MODEL_CHECKS: tuple[Callable[[GroupModel], None], ...] = (
    check_metadata,
    check_descriptions,
    check_every_group_has_a_level,
    check_verdict_matches_level,
    check_groups_are_not_modified,
    check_order_of_groups_is_ignored,
    check_groups_are_independent,
    check_partial_counts_add_up,
    check_merging_equals_recounting,
    check_monotone,
    check_not_monotone,
    check_extendable,
    check_not_extendable,
    check_split_lower_bound,
    check_independent_of_table,
    check_depends_on_table,
    check_stricter_parameters_accept_less,
    check_missing_values_never_help,
    check_smallest_group,
    check_serialization,
)


def _fill_missing(sample: GroupedSample) -> Iterator[list[CodedColumn]]:
    """Replace missing values: by one for all, the most frequent of each group, and any."""
    for way in ("one", "frequent", "any"):
        columns = []
        for column in sample.columns:
            codes, values = column.codes.copy(), len(column.domain)
            gone = np.flatnonzero(codes == values)
            codes[gone] = sample.rng.integers(0, values, len(gone) if way == "any" else 1)
            for number in range(GROUPS) if way == "frequent" else ():
                known = column.codes[(sample.group == number) & (column.codes < values)]
                codes[gone[sample.group[gone] == number]] = np.bincount(known, minlength=values).argmax()
            columns.append(CodedColumn(column.domain, codes))
        yield columns


def _merge_violates(model: GroupModel, sample: GroupedSample, *, good: bool) -> bool:
    """Return whether merging a valid group with another one, which may have to be valid, breaks it."""
    groups = sample.count_groups()
    kept = model.satisfied_by(groups)
    joining = kept if good else np.ones_like(kept)
    first, second = np.nonzero(kept[:, None] & joining[None, :])
    pairs = groups.take(np.stack([first, second], axis=1).ravel())
    return not model.satisfied_by(pairs.merge_groups(np.repeat(np.arange(len(first)), 2))).all()


def _stricter_value(value: object, *, larger: bool) -> object:
    if isinstance(value, Mapping):
        return {key: _stricter_value(entry, larger=larger) for key, entry in value.items()}
    assert isinstance(value, int | float)
    return value + 1 if larger else value / 2


def _random_unions(rng: np.random.Generator, groups: int) -> Labels:
    labels = rng.integers(0, max(1, groups // 2), groups)
    return np.unique(labels, return_inverse=True)[1]


def _with_other_totals(sample: GroupedSample) -> Groups:
    """Count the same groups as parts of a table in which some values are many times as frequent."""
    groups = sample.count_groups()
    totals = {name: total * sample.rng.integers(1, 9, len(total)) for name, total in groups.totals.items()}
    return replace(groups, totals=totals)


def _dense(groups: Groups, name: str) -> Counts:
    histogram = groups.histograms[name]
    dense = np.zeros((len(groups), histogram.width), dtype=np.int64)
    dense[histogram.rows, histogram.codes] = histogram.counts
    return dense[:, :-1]


def _same(left: Levels, right: Levels) -> bool:
    return np.allclose(left, right, rtol=TOLERANCE, atol=TOLERANCE)
