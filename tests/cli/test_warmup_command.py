"""`sfumato warmup`: afterwards every loop stands ready, whatever arrays a large table brings."""

from __future__ import annotations

import json

import pytest

LARGE_TABLES = """
import json
import numpy as np
import pyarrow as pa
import sfumato as sf
import sfumato.core._kernels.grouping
import sfumato.tables.algorithms._segments.cuts
import sfumato.tables.published._containment
from sfumato._randomness import KeyedRandom, secret_from_seed
from sfumato._warmup import warm_up
from sfumato.cli._demo_runs import run_demo
from sfumato.core._kernels import grouping_loops
from sfumato.tables.algorithms._segments import _kernels as cutting
from sfumato.tables.algorithms.microaggregation._kernels import tree_clusters
from sfumato.tables.masking import _kernels as swapping
from sfumato.tables.masking._swapping import draw_partners
from sfumato.tables.published import _kernels as containment
from sfumato.tables.published._containment import Boxes, count_points, list_containment_pairs

def ready():
    loops = {}
    for module in (containment, cutting, grouping_loops, swapping, tree_clusters):
        loops |= {(module.__name__, name): loop for name, loop in vars(module).items() if hasattr(loop, "signatures")}
    return {".".join(name): len(loop.signatures) for name, loop in loops.items()}

def table(leaves, rows=70_000):
    low, high = np.arange(rows) % 9, np.arange(rows) % leaves
    return pa.table({"q": high, "r": low, "s": high, "t": low})

warm_up()
before = ready()
sfumato.tables.algorithms._segments.cuts.COMPILED_ROWS = sfumato.core._kernels.grouping.COMPILED_ROWS = 0
sfumato.tables.published._containment.NUMPY_PAIRS = 0
schema = sf.Schema(quasi_identifiers=["q", "r"], sensitive=["s", "t"])
for leaves in (20, 1_000, 66_000):
    for models in ([], [sf.models.DistinctLDiversity(l=2, sensitive="s")], [sf.models.DistinctLDiversity(l=2,
    sensitive="t")]): for strict in (True, False):
            sf.anonymize(table(leaves), schema, [sf.models.KAnonymity(k=900), *models],
            sf.algorithms.Mondrian(strict=strict))
demo = run_demo(2_000, 1)
sf.attribute_disclosure_risk(demo.frame, demo.recipe.schema, original=demo.original)
points, row = np.zeros((1, 3), dtype=np.int32), np.zeros((2, 1), dtype=np.int32)
boxes = Boxes(low=row, high=row, member_rows=np.full((2, 1), -1), members=np.zeros(0, dtype=np.bool_))
assert count_points(points, np.ones(3, dtype=np.int64), boxes).tolist() == [3, 3]
assert len(list_containment_pairs(points, boxes)[0]) == 6
equal = pa.table({"q": np.zeros(10_000)})
sf.anonymize(equal, sf.Schema(quasi_identifiers=["q"]), [sf.models.KAnonymity(k=900)], sf.algorithms.MDAV())
sf.anonymize(equal, sf.Schema(quasi_identifiers=["q"]), [sf.models.KAnonymity(k=900)], sf.algorithms.VMDAV())
draw_partners(9, 2, KeyedRandom(secret_from_seed(1)))
print(json.dumps([before, ready()]))
"""


def test_no_large_table_waits_after_the_warm_up(shell):
    done = shell(program=LARGE_TABLES)
    assert done.returncode == 0, done.stderr
    before, after = json.loads(done.stdout)
    assert after == before


@pytest.mark.parametrize("flag", [[], ["--json"]])
def test_it_says_how_many_loops_are_ready(run, flag):
    result = run("warmup", *flag)
    assert result.exit_code == 0, result.stderr
    loops = json.loads(result.stdout)["loops"] if flag else int(result.stdout.split()[0])
    assert loops > 5
