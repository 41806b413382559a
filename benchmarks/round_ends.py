"""What round ends of proposed intervals cost: the loss beside that with exact ends, each somebody's own value.

Run `python benchmarks/round_ends.py`. Five tables are made up in the shape of public ones: a few ages and fares, a few
days and ages, working hours and experience, incomes and distances, and a census. Mondrian finds 5-anonymous groups; it
publishes ranges rounded outward to the proposed hierarchies, or as they are. Target: at most 1.1 times the loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

import sfumato as sf

MOST = 1.1
DAYS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16, 20, 24, 25, 26, 27, 28, 31, 35]


def tables() -> Iterator[tuple[str, pa.Table]]:
    """Make up five tables."""
    rng = np.random.default_rng(3)
    n = 891
    age = np.where(rng.random(n) < 0.2, np.nan, np.round(np.clip(rng.normal(29.7, 14.5, n), 0.4, 80)))
    passengers = {
        "Survived": rng.integers(0, 2, n),
        "Pclass": rng.choice([1, 2, 3], n, p=[0.24, 0.21, 0.55]),
        "Sex": rng.choice(["male", "female"], n, p=[0.65, 0.35]),
        "Age": pa.array(age, from_pandas=True),
        "SibSp": np.minimum(rng.geometric(0.66, n) - 1, 8),
        "Parch": np.minimum(rng.geometric(0.72, n) - 1, 6),
        "Fare": np.round(rng.lognormal(2.9, 0.95, n) * 4) / 4,
        "Embarked": rng.choice(["S", "C", "Q"], n, p=[0.72, 0.19, 0.09]),
    }
    yield "passengers", pa.table(passengers)
    n = 5642
    examined = {
        "性别": rng.choice(["男", "女"], n),
        "年龄": np.round(np.clip(rng.normal(46, 13, n), 3, 93)).astype(int),
        "体检日期": pa.array(np.datetime64("2017-09-15") + rng.choice(DAYS, n)),
        "血糖": np.round(rng.gamma(20, 0.28, n), 2),
    }
    yield "examined persons", pa.table(examined)
    n = 2246
    workers = {
        "age": rng.integers(34, 47, n),
        "race": rng.choice(["white", "black", "other"], n, p=[0.73, 0.26, 0.01]),
        "married": rng.integers(0, 2, n),
        "hours": np.where(rng.random(n) < 0.5, 40, np.clip(rng.normal(37, 10, n).round(), 1, 80)).astype(int),
        "ttl_exp": np.round(np.clip(rng.normal(12.5, 4.6, n), 0.1, 28.9) * 52) / 52,
        "tenure": np.round(rng.gamma(1.1, 5.4, n).clip(0, 26) * 12) / 12,
        "wage": np.round(rng.lognormal(1.87, 0.55, n), 4),
    }
    yield "workers", pa.table(workers)
    n = 1338
    insured = {
        "age": rng.integers(18, 65, n),
        "sex": rng.choice(["female", "male"], n),
        "children": np.minimum(rng.geometric(0.45, n) - 1, 5),
        "distance": np.round(rng.lognormal(2, 1, n), 2),
        "charges": np.round(rng.lognormal(9, 0.9, n), 2),
    }
    yield "insured persons", pa.table(insured)
    yield "census", sf.datasets.generate_census(5000, seed=1)


def main() -> None:
    """Print the losses and their ratio for every table."""
    worst = 0.0
    for name, table in tables():
        recipe = sf.propose_recipe(sf.inspect(table), table)
        losses = [
            sf.run_recipe(replace(recipe, algorithm=sf.algorithms.Mondrian(bounds=bounds)), table).metrics["loss"]
            for bounds in ("hierarchy", "exact")
        ]
        ratio = losses[0] / losses[1]
        worst = max(worst, ratio)
        print(f"{name:<18} {table.num_rows:>6,} rows  round {losses[0]:.3f}  exact {losses[1]:.3f}  ratio {ratio:.2f}")
    print(f"largest ratio {worst:.2f}, target at most {MOST}: {'kept' if worst <= MOST else 'MISSED'}")


if __name__ == "__main__":
    main()
