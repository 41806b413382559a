"""Score matching: scores by the definition, claims that stand out, and refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sfumato._randomness import seeded_generator
from sfumato.core.attack import clopper_pearson
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.transactions._score_matching import ScoreMatching

FALSE_ALARM = 1e-6
COLUMNS = {"person": "who", "item": "film", "rating": "stars"}


def ratings(seed=0, persons=400, films=300):
    rng = seeded_generator(seed)
    popularity = 3 / (np.arange(films) + 5)
    who, film = np.nonzero(rng.random((persons, films)) < popularity)
    return pd.DataFrame({"who": who, "film": film, "stars": rng.integers(1, 6, len(who))})


def plain_score(table, known, tolerance):
    """Score every record by the definition."""
    support = table.groupby("film")["who"].nunique()
    scores = {}
    for who, rows in table.groupby("who"):
        have = dict(zip(rows["film"], rows["stars"], strict=True))
        scores[who] = sum(
            1 / np.log(max(support[film], 2))
            for film, stars in known.items()
            if film in have and abs(have[film] - stars) <= tolerance
        )
    return scores


def test_more_known_items_find_more_records():
    table = ratings()
    rates = [ScoreMatching(known=known).run(table, **COLUMNS, seed=1).rate for known in (1, 3, 8)]
    assert rates[0] < rates[1] < rates[2]
    assert rates[2] > 0.9


def test_a_few_wrong_items_and_stars_do_not_help():
    table = ratings()
    found = ScoreMatching(known=8, wrong=2, tolerance=1).run(table, **COLUMNS, seed=1)
    assert found.precision > 0.9
    assert found.rate > 0.6
    assert found.gains


def test_nobody_is_found_by_wrong_items_alone():
    table = ratings()
    found = ScoreMatching(known=3, wrong=3).run(table, **COLUMNS, seed=1)
    assert clopper_pearson(found.successes, found.targets, 1 - 2 * FALSE_ALARM)[0] <= 0.05


def test_an_eccentric_claim_is_rarely_false():
    table = ratings()
    shy, bold = (
        ScoreMatching(known=4, eccentricity=far).run(table, person="who", item="film", seed=1) for far in (3, 0)
    )
    assert shy.claims < bold.claims
    assert shy.control < bold.control
    assert shy.precision >= bold.precision


@pytest.mark.parametrize("tolerance", [0, 1])
def test_scores_are_those_of_the_definition(tolerance):
    from sfumato.io._dataframes import to_arrow
    from sfumato.transactions._score_matching import _RatingMatrix

    table = ratings(3, persons=30, films=40)
    attack = ScoreMatching(known=3, tolerance=tolerance)
    read = _RatingMatrix.of(to_arrow(table)[0], "who", "film", "stars")
    able = np.flatnonzero(np.bincount(read.person, minlength=read.individuals) >= 3)[:5]
    known = attack._known(read, able, seeded_generator(1))
    scores = (known @ read.matrix().T).todense()
    names = list(dict.fromkeys(table["who"]))
    films = list(dict.fromkeys(table["film"]))
    levels = read.levels
    for row in range(len(able)):
        entries = known[[row]].tocoo()
        cells = [divmod(int(column), len(levels)) for column in entries.coords[1]]
        own = table[table["who"] == names[able[row]]].set_index("film")["stars"]
        told = {films[item]: own[films[item]] for item, _ in cells}
        assert len(told) == 3
        expected = plain_score(table, told, tolerance)
        assert np.allclose(scores[row], [expected[name] for name in names])


def test_a_seed_repeats_the_score_attack():
    table = ratings(2, persons=50)
    first, second = (ScoreMatching(known=2).run(table, **COLUMNS, seed=4) for _ in range(2))
    assert first.to_dict() == second.to_dict()


def test_repeated_rows_count_once():
    table = ratings(2, persons=50)
    twice = pd.concat([table, table])
    assert ScoreMatching(known=2).run(table, **COLUMNS, seed=4) == ScoreMatching(known=2).run(twice, **COLUMNS, seed=4)


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (ratings(), {"person": "whom", "item": "film"}),
        (ratings().assign(stars="good"), COLUMNS),
        (ratings().assign(stars=None), COLUMNS),
        (ratings()[:1], COLUMNS),
        (pd.DataFrame({"who": [1, 2, 3], "film": [1, 1, 1], "stars": [1, 2, 3]}), COLUMNS),
    ],
)
def test_tables_that_cannot_be_scored_are_refused(table, columns):
    with pytest.raises(SchemaError) as refused:
        ScoreMatching(known=2).run(table, **columns, seed=1)
    assert "good" not in str(refused.value)


@pytest.mark.parametrize("wrong", [{"known": 0}, {"wrong": 9}, {"tolerance": -1}, {"eccentricity": -0.1}])
def test_parameters_of_the_score_outside_their_range_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
        ScoreMatching(**wrong)
