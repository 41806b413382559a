# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every privacy model obeys.

`check_model(MyModel(k=3))` runs them all on your own model. Each check draws small tables from fixed seeds and
raises `AssertionError` if its law is broken. Use models with small parameters: the tables grow with
`smallest_group`.
"""

from __future__ import annotations

import contextlib
import pickle
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import tomli_w

from sfumato.checks.grouped_samples import GROUPS, SEEDS, GroupedSample, Labels, samples
from sfumato.coding.codes import CodedColumn
from sfumato.core.groups import Counts, Groups
from sfumato.exceptions import InvalidParameterError
from sfumato.models.base import Levels, PrivacyModel
from sfumato.schema.missing import Missing
from sfumato.validation import is_number

Oracle = Callable[[Sequence[int], Sequence[int]], Fraction | float]
TOLERANCE = 1e-9


def check_model(model: PrivacyModel) -> None:
    """Run every check on one model."""
    for check in MODEL_CHECKS:
        check(model)


def check_facts_are_stated(model: PrivacyModel) -> None:
    """A model states its name, its source, and in which direction each of its numbers gets stricter."""
    assert model.name == model.name.lower().replace(" ", "-")
    assert model.reference
    assert model.bound in {"min", "max"}
    numbers = {name for name, value in model.parameters().items() if is_number(value)}
    assert numbers <= set(model.stricter) <= {field.name for field in fields(model)}  # type: ignore[arg-type]  # every model is a dataclass
    assert set(model.stricter.values()) <= {"larger", "smaller"}


def check_words_say_what_is_promised(model: PrivacyModel) -> None:
    """A model says what it promises with its parameters, which attack it stops, and its level; it quotes no values."""
    words = model.words
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
    assert not any(f"“{value}”" in sentence for value in model.named_values)


def check_every_group_has_a_level(model: PrivacyModel) -> None:
    """Every group has one level that is a number, finite or not; no groups have no levels."""
    for sample in samples(model, *Missing):
        groups = sample.counted()
        level = model.level(groups)
        assert level.shape == (len(groups),)
        assert level.dtype == np.float64
        assert not np.isnan(level).any()
        assert model.level(groups.take(np.zeros(0, dtype=np.intp))).shape == (0,)


def check_verdict_follows_level(model: PrivacyModel) -> None:
    """A group keeps the promise if and only if its level reaches the limit, or does not exceed it."""
    for sample in samples(model, *Missing):
        level = model.level(sample.counted())
        gain = level - model.limit if model.bound == "min" else model.limit - level
        assert np.array_equal(model.kept_by(sample.counted()), gain > 0 if model.strict else gain >= 0)


def check_counts_stay_as_they_are(model: PrivacyModel) -> None:
    """Judging groups does not change them."""
    for sample in samples(model, *Missing):
        groups, untouched = sample.counted(), sample.counted()
        model.kept_by(groups)
        assert np.array_equal(groups.sizes, untouched.sizes)
        for name, histogram in groups.histograms.items():
            for part in ("offsets", "codes", "counts", "missing"):
                assert np.array_equal(getattr(histogram, part), getattr(untouched.histograms[name], part))
            assert np.array_equal(groups.totals[name], untouched.totals[name])


def check_order_of_groups_is_ignored(model: PrivacyModel) -> None:
    """The level of a group does not depend on its position among the groups."""
    for sample in samples(model, *Missing):
        groups, order = sample.counted(), sample.rng.permutation(GROUPS)
        assert _same(model.level(groups.take(order)), model.level(groups)[order])


def check_groups_are_judged_one_by_one(model: PrivacyModel) -> None:
    """The level of a group depends on the group and the totals of the table, not on other groups."""
    for sample in samples(model, *Missing):
        groups = sample.counted()
        alone = [model.level(groups.take(np.array([group])))[0] for group in range(GROUPS)]
        assert _same(np.array(alone), model.level(groups))


def check_pieces_add_up(model: PrivacyModel) -> None:
    """Counting a table in parts and adding the counts gives the same levels as counting it at once."""
    for sample in samples(model, *Missing):
        half = sample.rng.random(len(sample.group)) < 1 / 2
        pieces = sample.counted(np.flatnonzero(half)) + sample.counted(np.flatnonzero(~half))
        assert _same(model.level(pieces), model.level(sample.counted()))


def check_merging_is_recounting(model: PrivacyModel) -> None:
    """Merging the counts of groups gives the same levels as counting the merged groups."""
    for sample in samples(model, *Missing):
        labels = _unions(sample.rng, GROUPS)
        assert _same(model.level(sample.counted().merged(labels)), model.level(sample.counted(labels=labels)))


def check_unions_of_good_groups_are_good(model: PrivacyModel) -> None:
    """A model that claims to be monotone is: merging valid groups gives a valid group."""
    for sample in samples(model, *Missing) if model.monotone else ():
        groups = sample.counted()
        good = groups.take(np.flatnonzero(model.kept_by(groups)))
        if len(good):
            assert model.kept_by(good.merged(_unions(sample.rng, len(good)))).all()


def check_unions_of_good_groups_may_be_bad(model: PrivacyModel) -> None:
    """A model that claims not to be monotone is not: two valid groups are found that merging breaks."""
    assert model.monotone or any(_spoils(model, sample, good=True) for sample in samples(model, *Missing))


def check_good_groups_may_turn_bad(model: PrivacyModel) -> None:
    """A model that claims not to be extendable is not: a valid group is found, and another that spoils it."""
    assert model.extendable or any(_spoils(model, sample, good=False) for sample in samples(model, *Missing))


def check_good_groups_stay_good(model: PrivacyModel) -> None:
    """A model that claims to be extendable is: a valid group stays valid whatever joins it."""
    for sample in samples(model, *Missing) if model.extendable else ():
        groups, labels = sample.counted(), _unions(sample.rng, GROUPS)
        some_good = np.bincount(labels, weights=model.kept_by(groups)) > 0
        assert model.kept_by(groups.merged(labels))[some_good].all()


def check_parts_lose_what_is_said(model: PrivacyModel) -> None:
    """However a group is split, at least as many of its records as the model says are in invalid parts."""
    for sample in samples(model, *Missing):
        parts = sample.counted()
        lost = np.where(model.kept_by(parts), 0, parts.sizes)
        for labels in (np.arange(GROUPS), *(_unions(sample.rng, GROUPS) for _ in SEEDS)):
            said = model.lost_in_parts(parts.merged(labels))
            assert (said >= 0).all()
            assert (said <= np.bincount(labels, lost)).all()


def check_other_tables_change_nothing(model: PrivacyModel) -> None:
    """A model that does not claim to compare with the table does not: its levels stay when the totals change."""
    for sample in samples(model, *Missing) if not model.compares_with_table else ():
        assert np.array_equal(model.level(_of_another_table(sample)), model.level(sample.counted()))


def check_other_tables_change_levels(model: PrivacyModel) -> None:
    """A model that claims to compare with the table does: in some table with other totals the levels differ."""
    assert not model.compares_with_table or any(
        not _same(model.level(_of_another_table(sample)), model.level(sample.counted()))
        for sample in samples(model, *Missing)
    )


def check_stricter_keeps_no_more(model: PrivacyModel) -> None:
    """A stricter parameter never accepts a group that the model refuses."""
    for sample in samples(model, *Missing):
        groups = sample.counted()
        for name, direction in model.stricter.items():
            if name not in model.parameters():
                continue
            value = _made_stricter(getattr(model, name), larger=direction == "larger")
            with contextlib.suppress(InvalidParameterError):  # p is already at most k
                stricter = replace(model, **{name: value})  # type: ignore[type-var]  # every model is a dataclass
                assert not (stricter.kept_by(groups) & ~model.kept_by(groups)).any()


def check_missing_values_never_help(model: PrivacyModel) -> None:
    """Values that may be anything never give a group a better level than any actual values would."""
    for sample in samples(model, Missing.MATCHES_ALL):
        groups = sample.counted()
        level, kept = model.level(groups), model.kept_by(groups)
        for columns in _filled(sample):
            known = replace(groups, histograms=Groups.from_rows(sample.group, GROUPS, columns).histograms)
            known_level = model.level(known)
            better = level > known_level if model.bound == "min" else level < known_level
            assert _same(level[better], known_level[better])
            assert model.kept_by(known)[kept].all()


def check_small_groups_are_bad(model: PrivacyModel) -> None:
    """No group smaller than `smallest_group` keeps the promise."""
    for sample in samples(model, *Missing):
        groups = sample.counted()
        assert not model.kept_by(groups)[groups.sizes < model.smallest_group].any()


def check_model_can_be_stored(model: PrivacyModel) -> None:
    """A model equals what its pickle and its parameters restore, also through a TOML file."""
    stored = tomllib.loads(tomli_w.dumps(model.parameters()))
    pickled = pickle.loads(pickle.dumps(model))  # noqa: S301 - made here
    for copy in (pickled, type(model)(**model.parameters()), type(model)(**stored)):
        assert copy == model
        assert hash(copy) == hash(model)


def check_level_equals_oracle(model: PrivacyModel, oracle: Oracle) -> None:
    """The level of every group is what the definition gives, and fractions are compared exactly.

    The oracle gets the counts of the values in one group and in the table, or only the two sizes for a model that
    reads no attribute; for one that needs a population, each size and the people. No value is missing.
    """
    for sample in samples(model, Missing.OWN_VALUE, lost=0.0):
        groups = sample.counted()
        sizes = [groups.sizes] if groups.population is None else [groups.sizes, groups.population]
        rows, totals = np.stack(sizes, axis=1), np.sum(sizes, axis=1)
        for name in model.attributes:
            rows, totals = _dense(groups, name), groups.totals[name][:-1]
        expected = [oracle(row, totals.tolist()) for row in rows.tolist()]
        assert _same(model.level(groups), np.array(expected, dtype=np.float64))
        for kept, level in zip(model.kept_by(groups).tolist(), expected, strict=True):
            if not isinstance(level, float):
                gain = (level - Fraction(str(model.limit))) * (1 if model.bound == "min" else -1)
                assert kept == (gain > 0 if model.strict else gain >= 0)


MODEL_CHECKS: tuple[Callable[[PrivacyModel], None], ...] = (
    check_facts_are_stated,
    check_words_say_what_is_promised,
    check_every_group_has_a_level,
    check_verdict_follows_level,
    check_counts_stay_as_they_are,
    check_order_of_groups_is_ignored,
    check_groups_are_judged_one_by_one,
    check_pieces_add_up,
    check_merging_is_recounting,
    check_unions_of_good_groups_are_good,
    check_unions_of_good_groups_may_be_bad,
    check_good_groups_stay_good,
    check_good_groups_may_turn_bad,
    check_parts_lose_what_is_said,
    check_other_tables_change_nothing,
    check_other_tables_change_levels,
    check_stricter_keeps_no_more,
    check_missing_values_never_help,
    check_small_groups_are_bad,
    check_model_can_be_stored,
)


def _filled(sample: GroupedSample) -> Iterator[list[CodedColumn]]:
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


def _spoils(model: PrivacyModel, sample: GroupedSample, *, good: bool) -> bool:
    """Return whether merging a valid group with another one, which may have to be valid, breaks it."""
    groups = sample.counted()
    kept = model.kept_by(groups)
    joining = kept if good else np.ones_like(kept)
    first, second = np.nonzero(kept[:, None] & joining[None, :])
    pairs = groups.take(np.stack([first, second], axis=1).ravel())
    return not model.kept_by(pairs.merged(np.repeat(np.arange(len(first)), 2))).all()


def _made_stricter(value: object, *, larger: bool) -> object:
    if isinstance(value, Mapping):
        return {key: _made_stricter(entry, larger=larger) for key, entry in value.items()}
    assert isinstance(value, int | float)
    return value + 1 if larger else value / 2


def _unions(rng: np.random.Generator, groups: int) -> Labels:
    labels = rng.integers(0, max(1, groups // 2), groups)
    return np.unique(labels, return_inverse=True)[1]


def _of_another_table(sample: GroupedSample) -> Groups:
    """Count the same groups as parts of a table in which some values are many times as frequent."""
    groups = sample.counted()
    totals = {name: total * sample.rng.integers(1, 9, len(total)) for name, total in groups.totals.items()}
    return replace(groups, totals=totals)


def _dense(groups: Groups, name: str) -> Counts:
    histogram = groups.histograms[name]
    dense = np.zeros((len(groups), histogram.width), dtype=np.int64)
    dense[histogram.rows, histogram.codes] = histogram.counts
    return dense[:, :-1]


def _same(left: Levels, right: Levels) -> bool:
    return np.allclose(left, right, rtol=TOLERANCE, atol=TOLERANCE)
