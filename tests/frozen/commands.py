"""Every command with `--json` where it has it: sessions that begin with the same input files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import sfumato as sf
from cli.test_relate_command import FILE as RELATIONS
from frozen.scenario import SECRET
from frozen.tables import HOSPITAL
from party_folders import Folders
from series_of_patients import quarter

ROLES = "--identifier name --quasi age,sex --sensitive disease"
KEY = "--original t.csv --key name"
ADDED = "--model distinct-l-diversity:l=2,sensitive=disease"
FIXED = "--seed 1 --date 2026-01-01"
SERIES = "--identifier id --quasi age --sensitive disease --k 2 --algorithm mdav --ledger h.ledger"
AREA = "--area 13.2,52.4,13.6,52.6"
STEPS = "--step top-code:column=age,at=70 --step round-numbers:columns=cost,base=10"
ANATOMY = "--model frequency-l-diversity:l=2,sensitive=disease --algorithm anatomy"
LOG_PAYS = "--epsilon 5000 --delta 1e-6 --total 12000 --total-delta 1e-5 --budget log.sqlite --analyst ann"
NOISE = "uniform:-20,20"
GRAPH_PAYS = "--persons people.csv --epsilon 5000 --budget graph.sqlite --analyst ann --json"
WAYS_PAY = "--epsilon 5000 --budget ways.budget --analyst ann --json"
AGREEMENT = 'mechanism = "oue"\nepsilon = 1.0\nvalues = ["asthma", "diabetes", "influenza", "migraine", "stroke"]\n'

# The noise of private counts comes from a library that takes no seed: at these epsilons all of it rounds to nothing.
SESSIONS: Mapping[str, Sequence[str]] = {
    "table": (
        "--version",
        "models --json",
        "algorithms --json",
        "steps --json",
        "formats --json",
        "inspect t.csv --json",
        "inspect t.csv --out recipe.toml",
        f"anonymize t.csv {ROLES} --k 4 {ADDED} {FIXED} --out out --json",
        f"anonymize t.csv {ROLES} --k 4 {FIXED} --out other",
        f"anonymize t.csv {ROLES} --k 4 {FIXED} --algorithm optimal --hierarchy age=intervals:5,20 --out rules --json",
        "audit out/public/table.csv --recipe out/internal/recipe.toml --json",
        "audit out/public/table.csv --recipe out/internal/recipe.toml --exposure --json",
        "audit out/public/table.csv --recipe out/internal/recipe.toml --original t.csv",
        "audit t.csv --quasi age,sex --sensitive disease --k 4",
        "risk t.csv --quasi age,sex --sensitive disease --population-size 5000 --json",
        "risk t.csv --quasi age,sex --sensitive disease",
        "utility out/public/table.csv --recipe out/internal/recipe.toml --original t.csv --json",
        "utility out/public/table.csv --recipe out/internal/recipe.toml --original t.csv",
        f"attack out/public/table.csv --recipe out/internal/recipe.toml --with t.csv {KEY} --seed 1 --json",
        f"attack out/public/table.csv --recipe out/internal/recipe.toml --with t.csv {KEY} --seed 1",
        "attack t.csv --search --recipe out/internal/recipe.toml --seed 1 --json",
        "compare out other --json",
        "compare out other",
        f"try t.csv {ROLES} --k 4 --seed 1 --algorithms mondrian,mdav --json",
        f"explore t.csv {ROLES} --k 4 --json",
        "recode t.csv --with rules/internal/recoding.toml --out recoded --json",
        "estimate out/public/table.csv --recipe out/internal/recipe.toml --sum age --where sex=male --json",
        "estimate out/public/table.csv --recipe out/internal/recipe.toml --json",
        "report out --language zh --out zh.html",
        "script t.csv --recipe out/internal/recipe.toml",
        f"mask t.csv {ROLES} --insensitive cost {STEPS} --out masked --json",
        "condense t.csv --quasi age,sex,height_cm --sensitive cost,disease --k 20 --out synthetic.csv --json",
        "relate relations.toml --out related --json",
        "relate relations.toml --audit",
        "demo --rows 300 --seed 7 --out demo",
    ),
    "series": (
        "ledger init h.ledger",
        f"anonymize q1.csv {SERIES} {FIXED} --out r1 --json",
        f"anonymize q2.csv {SERIES} {FIXED} --out r2",
        f"anonymize q3.csv {SERIES} {FIXED} --out r3 --json",
        "ledger show h.ledger --json",
        "ledger show h.ledger",
        "ledger verify h.ledger r1 r2 r3",
        "ledger exposure h.ledger --json",
        "audit --series --ledger h.ledger --json",
        "audit r1 r2 r3 --series --originals q1.csv q2.csv q3.csv --json",
        "attack r1 r2 r3 --series --originals q1.csv q2.csv q3.csv --seed 1 --json",
        "ledger repair h.ledger",
        "ledger forget h.ledger 3 --yes",
    ),
    "sets": (
        "baskets anonymize b.dat --model km-anonymity:k=3,m=2 --out out --json",
        "baskets audit out/public --recipe out/internal/recipe.toml --json",
        "baskets audit b.dat --model km-anonymity:k=5,m=2",
        "baskets attack out/public --with b.dat --recipe out/internal/recipe.toml --json",
        f"baskets log log.csv --person user --item query --max-items 2 {LOG_PAYS} --out log-counts.csv --json",
        "report out --language zh --out zh.html",
        "rules mine pairs.csv --support 20 --confidence 0.3 --json",
        "rules hide pairs.csv --items a,b --support 20 --out hidden.csv --json",
        "rules flip pairs.csv --present 0.9 --domain a,b,c,d --out flipped.csv --json",
        "rules estimate flipped.csv --present 0.9 --support 0.05 --confidence 0.3 --json",
    ),
    "graph": (
        "network anonymize edges.txt --simplify --model k-degree:k=3 --out out --json",
        "network audit out/public --recipe out/internal/recipe.toml --json",
        "network audit edges.txt --simplify --model k-candidates:k=5,knowledge=H2",
        "network attack out/public --with edges.txt --recipe out/internal/recipe.toml --json",
        "report out --language zh --out zh.html",
        f"network count degrees edges.txt {GRAPH_PAYS} --total 50000 --out degrees.csv",
        f"network count triangles edges.txt {GRAPH_PAYS}",
        f"network count stars edges.txt --leaves 3 {GRAPH_PAYS}",
        f"network count blocks edges.txt --by side --blocks a,b {GRAPH_PAYS} --out blocks.csv",
        f"network count graph edges.txt {GRAPH_PAYS} --out drawn",
    ),
    "trajectories": (
        "ways unicity points.csv --seed 1 --json",
        "ways anonymize points.csv --model k-delta:k=3,delta=500 --out out --json",
        "ways audit out/public --recipe out/internal/recipe.toml --json",
        "ways measure out/public --with points.csv --recipe out/internal/recipe.toml --json",
        "ways attack out/public --with points.csv --recipe out/internal/recipe.toml --seed 1 --json",
        "report out --language zh --out zh.html",
        f"ways count density points.csv {AREA} --order 2 {WAYS_PAY} --total 50000 --out density.csv",
        f"ways count trips points.csv {AREA} --order 2 {WAYS_PAY} --out trips.csv",
        f"ways count tree points.csv {AREA} --order 2 --height 2 {WAYS_PAY} --out tree.csv",
        f"ways count n-grams points.csv {AREA} --order 2 {WAYS_PAY} --out n-grams.csv",
        f"ways stream update state minute1.csv --person user --k 2 {AREA} --out shown1.csv --json",
        "ways stream update state minute2.csv --person user --out shown2.csv --json",
        "ways stream audit shown1.csv shown2.csv --k 2 --json",
        f"places cloak positions.csv --k 5 {AREA} --out regions.csv --json",
        f"places perturb positions.csv --epsilon 0.007 {AREA} --out moved.csv --json",
    ),
    "others": (
        f"anonymize t.csv --quasi age,sex --sensitive disease {ANATOMY} {FIXED} --out out --json",
        "buckets split out/public/table.csv --recipe out/internal/recipe.toml --out parts",
        "buckets join parts --out joined.csv",
        "buckets spell-out out/public/table.csv --recipe out/internal/recipe.toml --out long.csv",
        "stream update state t.csv --k 20 --columns age,sex,cost",
        "stream sample state --rows 100 --out drawn.csv",
        f"collect perturb t.csv --noise age={NOISE} --keep sex --out sent.csv",
        f"collect reconstruct sent.csv --column age --noise {NOISE} --edges -20:120:20 --json",
        "collect report --agreement agreement.toml --budget 2 --state me.json <<< asthma",
        "collect randomize t.csv --column disease --agreement agreement.toml --out reports.csv",
        "collect estimate reports.csv --agreement agreement.toml --json",
        "query init t.csv --store study.toml --bounds age=0,100 --total 100000 --per-analyst 50000",
        "query ask study.toml 'count where age >= 60' --epsilon 10000 --analyst ann --json",
        "query ask study.toml 'count where age from 20 to 39' --epsilon 10000 --analyst ann",
        "query budget study.toml --json",
        "query repair study.toml",
        "query exact t.csv 'sum of cost where sex = male' --history h.sqlite --public sex --user ann --json",
        "hierarchy make t.csv --column disease --out disease.csv",
        "hierarchy check disease.csv t.csv --column disease",
        "hierarchy draw t.csv --column age --kind intervals:10,50",
        "party init hospital --name hospital",
        "fuse parties/hospital/party.toml parties/agency/party.toml parties/insurer/party.toml --out fused --json",
    ),
}
NOT_RUN = {
    "workbench": "a server",
    "party serve": "needs a network",
    "party join": "needs a network",
    "warmup": "compiles everything",
}


def write_inputs(folder: Path) -> None:
    """Write the files that the commands read."""
    sf.write(HOSPITAL, folder / "t.csv")
    for number in range(3):
        sf.write(quarter(8 * number, 40 + 12 * number), folder / f"q{number + 1}.csv")
    sf.write(sf.datasets.generate_trajectories(20, 1, seed=1), folder / "points.csv")
    lines = [" ".join(item for at, item in enumerate("abcdef") if (row * 7 + at * at) % (at + 2)) for row in range(80)]
    pairs = [f"{row},{item}" for row, line in enumerate(lines) for item in line.split()]
    edges = [(one, (one * step + 1) % 30) for one in range(30) for step in (2, 3) if one != (one * step + 1) % 30]
    away = [(f"{13.25 + row * 7 % 30 / 100:.2f}", f"{52.42 + row * 11 % 16 / 100:.2f}") for row in range(40)]
    (folder / "patients.csv").write_text("patient;age;dose\n1;24;0,5\n2;27;1,5\n3;43;2,5\n4;55;3,5\n", "utf-8")
    (folder / "visits.csv").write_text("patient,ward\n1,a\n2,a\n3,b\n", "utf-8")
    (folder / "relations.toml").write_text(RELATIONS.format(secret=SECRET), "utf-8")
    (folder / "b.dat").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "pairs.csv").write_text("basket,item\n" + "\n".join(pairs) + "\n", "utf-8")
    (folder / "edges.txt").write_text(
        "".join(f"{one} {other}\n" for one, other in sorted({(min(pair), max(pair)) for pair in edges})), "utf-8"
    )
    (folder / "people.csv").write_text("key,side\n" + "".join(f"{one},{'ab'[one % 2]}\n" for one in range(30)), "utf-8")
    (folder / "log.csv").write_text("user,query\n" + "".join(f"u{row % 40},{'xyz'[row % 3]}\n" for row in range(160)))
    (folder / "positions.csv").write_text("lon,lat\n" + "".join(f"{east},{north}\n" for east, north in away), "utf-8")
    for minute in (1, 2):
        rows = [f"p{at},2026-01-05T08:0{minute}:00Z,{13.3 + at / 100 + minute / 50:.2f},52.5" for at in range(6)]
        (folder / f"minute{minute}.csv").write_text("\n".join(["user,time,lon,lat", *rows]) + "\n", "utf-8")
    (folder / "agreement.toml").write_text(AGREEMENT, "utf-8")
    (folder / "parties").mkdir()
    Folders(folder / "parties")
