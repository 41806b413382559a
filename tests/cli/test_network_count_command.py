"""`sfumato network count`: figures of a network and made-up ones, paid from a budget."""

from __future__ import annotations

import json
import re

import networkx as nx
import pytest

import sfumato as sf
from sfumato.dp.accountant import Accountant
from sfumato.io._writing import write

S = sf.graphs
CLUB = nx.karate_club_graph()


@pytest.fixture
def friends(tmp_path, people):  # noqa: ARG001 - the file of people lies beside
    path = tmp_path / "friends.txt"
    nx.write_edgelist(CLUB, path, data=False)
    return path


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{person},{CLUB.nodes[person]['club']}" for person in CLUB]
    path.write_text("\n".join(["key,side", *rows]) + "\n")
    return path


def count(run, what, friends, *more, epsilon="1000"):
    paid = ("--epsilon", epsilon, "--budget", friends.parent / "budget.sqlite", "--analyst", "ann")
    return run("network", "count", what, friends, "--persons", friends.parent / "people.csv", *paid, *more)


MORE = {"total": 9000, "another_budget": True}


def paying(tmp_path):
    return {"epsilon": 1000, "accountant": Accountant(tmp_path / "python.sqlite", **MORE), "analyst": "ann"}


def test_degrees_are_written_as_by_python_and_paid_for(run, friends, tmp_path):
    done = count(run, "degrees", friends, "--out", tmp_path / "degrees.csv", "--total", "2500")
    assert done.exit_code == 0, done.output
    assert (
        "persons 34, scale 0.002\nepsilon 1000 for adding or removing one edge was spent, 1500 of 2500 is left"
        in done.output
    )
    write(S.private_degrees(S.read(friends), **paying(tmp_path)).to_frame(), tmp_path / "same.csv")
    assert (tmp_path / "degrees.csv").read_bytes() == (tmp_path / "same.csv").read_bytes()
    assert (tmp_path / "degrees.csv").read_text().startswith("degree,persons\n1,1\n2,11\n")
    person = count(run, "degrees", friends, "--unit", "person", "--out", tmp_path / "persons.csv")
    assert (
        person.exit_code,
        "a budget for adding or removing one edge, not for adding or removing all" in person.output,
    ) == (2, True)


def test_persons_are_hidden_by_a_bound(run, friends, tmp_path):
    out = tmp_path / "degrees.csv"
    asked = ("--unit", "person", "--bound", "5", "--out", out, "--total", "1000", "--json")
    told = json.loads(count(run, "degrees", friends, *asked).output)
    cost = {"epsilon": "1000", "neighbors": "adding or removing all edges of one individual", "epsilon_left": "0"}
    assert told == {"persons": 34, "bound": 5, "scale": 0.01, **cost}
    assert max(int(line.split(",")[0]) for line in out.read_text().split()[1:]) == 5
    more = count(run, "degrees", friends, "--unit", "person", "--out", tmp_path / "more.csv")
    assert (more.exit_code, "has 0 left" in more.output) == (1, True)
    assert not (tmp_path / "more.csv").exists()


def test_triangles_and_stars_are_told(run, friends):
    done = count(run, "triangles", friends, "--total", "3000")
    spent = "epsilon 1000 for adding or removing one edge was spent, 2000 of 3000 is left"
    assert f"triangles 45, persons 34\n{spent}" in done.output
    assert json.loads(count(run, "stars", friends, "--leaves", "3", "--json").output)["stars"] == 1764
    assert "stars 528, leaves 2" in count(run, "stars", friends).output
    assert count(run, "triangles", friends).exit_code == 1
    assert count(run, "stars", friends, "--leaves", "4").exit_code == 2


BY = ("--by", "side", "--blocks", "Mr. Hi,Officer")


def test_blocks_are_counted_and_made_up(run, friends, tmp_path):
    out = tmp_path / "sides.csv"
    done = count(run, "blocks", friends, *BY, "--out", out, "--total", "3000")
    assert done.exit_code == 0, done.output
    assert out.read_text().splitlines() == [
        "block,other,edges",
        "Mr. Hi,Mr. Hi,35",
        "Mr. Hi,Officer,11",
        "Mr. Hi,,0",
        "Officer,Officer,32",
        "Officer,,0",
        ",,0",
    ]
    folder = tmp_path / "made-up"
    made = count(run, "graph", friends, *BY, "--out", folder)
    assert "persons 34, edges 78" in made.output
    assert sorted((folder / "persons.csv").read_text().split("\n"))[1:3] == ["0,Mr. Hi", "1,Mr. Hi"]
    again = S.read(folder / "edges.csv", persons=folder / "persons.csv")
    again = S.private_blocks(again, blocks="block", names=["Mr. Hi", "Officer"], **paying(tmp_path))
    assert again.counts.inner.tolist() == [35, 32]
    lone = count(run, "graph", friends, "--by", "side", "--out", tmp_path / "no")
    assert (lone.exit_code, "--blocks lists them; give both" in lone.output) == (2, True)
    both = count(run, "graph", friends, *BY, "--unit", "person", "--out", tmp_path / "no")
    assert (both.exit_code, "Blocks hide edges" in both.output) == (2, True)


def test_a_graph_is_made_up_by_degrees(run, friends, tmp_path):
    folder = tmp_path / "made-up"
    done = count(run, "graph", friends, "--out", folder, "--total", "2000", "--json")
    cost = {"epsilon": "1000", "neighbors": "adding or removing one edge", "epsilon_left": "1000"}
    assert json.loads(done.output) == {"persons": 34, "edges": 78, **cost}
    made = S.read(folder / "edges.csv", persons=folder / "persons.csv")
    assert sorted(made.degrees.tolist()) == sorted(degree for _, degree in CLUB.degree)
    assert count(run, "graph", friends, "--out", folder).exit_code == 2


ODD = ("", "3 3\n0 1\n1 0\n", "0 99\n", "0\n", "0 1 2\n", "\xff;\x00\n# 1\n,\n", "a b\n", "07 8\n", "4 33\n", '"1 2\n')


@pytest.mark.parametrize("what", ["degrees", "triangles", "stars", "blocks", "graph"])
@pytest.mark.parametrize("table", [False, True])
def test_whatever_one_edge_of_a_file_is_the_command_says_the_same(run, friends, tmp_path, what, table):
    """A refusal, a remark or the number of persons would tell who has an edge that is not there otherwise."""
    whole, seen = friends.read_text(), set()
    for number, odd in enumerate([*ODD, None]):
        text = "" if odd is None else whole + odd
        file = tmp_path / f"{number}.{'csv' if table else 'txt'}"
        file.write_text("one,other\n" + text.replace(" ", ",") if table else text or "\n", "latin-1")
        asked = {"blocks": BY, "degrees": ("--unit", "person")}.get(what, ())
        out = () if what in {"triangles", "stars"} else ("--out", tmp_path / f"found{number}")
        out = ("--out", tmp_path / f"found{number}.csv") if what in {"degrees", "blocks"} else out
        granted = ("--budget", tmp_path / f"{number}.sqlite", "--total", "1", "--another-budget")
        paid = ("--epsilon", "0.5", *granted, "--analyst", "ann")
        done = run("network", "count", what, file, "--persons", tmp_path / "people.csv", *paid, *asked, *out)
        noisy = re.compile(rf"(triangles|stars|edges|bound|scale) [\d.,]+|found{number}|(?<=bound)\S+")
        seen.add((done.exit_code, noisy.sub("", done.stdout), done.stderr))
    assert [code for code, *_ in seen] == [0]


GRAPHS = {
    "graphml": [
        *("", "<edge source='0' target='99'/>", "<edge source='3' target='3'/>", "<edge source='0'/>"),
        *(
            "<edge source='0' target='1' directed='true'/>",
            "<edge source='4' target='33'><data key='w'>x</data></edge>",
        ),
        *("<edge source='0' target='1'/><edge source='1' target='0'/>", "<hyperedge><endpoint node='99'/></hyperedge>"),
    ],
    "gml": [
        *("", "edge [ source 0 target 99 ]", "edge [ source 3 target 3 ]", "edge [ source 0 ]", 'edge [ source "x ]'),
        *("edge [ source 0 target 1 target 2 weight x y ]", "edge [ ]", "edge [ source [ 1 ] target 2 label [ ] ] ]"),
        *("edge [ source 0 target 1 ] edge [ source 1 target 0 ]", "edge [ source a target b ]"),
    ],
}


def graph_file(path, edges, more):
    """Write a graph with all persons, some edges, and something more among these."""
    if path.suffix == ".gml":
        nodes = " ".join(f'node [ id {each} side "{CLUB.nodes[each]["club"]}" ]' for each in CLUB)
        listed = " ".join(f"edge [ source {a} target {b} ]" for a, b in edges)
        path.write_text(f"graph [ directed 0\n{nodes}\n{listed}\n{more} ]\n")
        return path
    nodes = "".join(f"<node id='{each}'><data key='s'>{CLUB.nodes[each]['club']}</data></node>" for each in CLUB)
    listed = "".join(f"<edge source='{a}' target='{b}'/>" for a, b in edges)
    head = "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'><key id='s' for='node' attr.name='side'/>"
    path.write_text(f"{head}<graph edgedefault='undirected'>{nodes}{listed}{more}</graph></graphml>")
    return path


@pytest.mark.parametrize("what", ["triangles", "blocks"])
@pytest.mark.parametrize("suffix", GRAPHS)
def test_whatever_one_edge_of_a_graph_is_the_command_says_the_same(run, tmp_path, people, what, suffix):
    seen = set()
    named = ("--persons", people) if what == "triangles" else ()
    for number, odd in enumerate([*GRAPHS[suffix], None]):
        file = graph_file(tmp_path / f"{number}.{suffix}", CLUB.edges if odd is not None else (), odd or "")
        granted = ("--budget", tmp_path / f"{number}.sqlite", "--total", "1", "--another-budget")
        out = (*BY, "--out", tmp_path / f"found{number}.csv") if what == "blocks" else ()
        done = run("network", "count", what, file, *named, "--epsilon", "0.5", *granted, "--analyst", "ann", *out)
        noisy = re.compile(rf"(triangles|edges|scale) [\d.,]+|found{number}")
        seen.add((done.exit_code, noisy.sub("", done.stdout), done.stderr))
    assert [code for code, *_ in seen] == [0], seen


@pytest.mark.parametrize("suffix", GRAPHS)
def test_a_graph_is_counted_as_a_list_of_its_edges_is(run, friends, tmp_path, suffix):
    file = graph_file(tmp_path / f"club.{suffix}", CLUB.edges, "")
    paid = ("--epsilon", 1000, "--budget", tmp_path / "b", "--total", 9000, "--analyst", "ann")
    for source, persons in ((file, ()), (file, ("--persons", friends.parent / "people.csv"))):
        done = run("network", "count", "triangles", source, *persons, *paid)
        assert (done.exit_code, "triangles 45, persons 34" in done.output) == (0, True), done.output
    directed = tmp_path / f"directed.{suffix}"
    text = file.read_text().replace("undirected", "directed").replace("directed 0", "directed 1")
    directed.write_text(text)
    either = run("network", "count", "triangles", directed, *paid)
    assert "triangles 45, persons 34" in either.output
    both = run("network", "count", "triangles", directed, "--as-undirected", "both", *paid, "--another-budget")
    assert (both.exit_code, "another table" in both.output) == (2, True)  # whose edges are none


def test_what_is_no_graph_is_refused(run, tmp_path):
    (tmp_path / "no.graphml").write_text("<graphml><graph></graphml>")
    (tmp_path / "no.gml").write_text("graph [ node [ id 1 ] node [ id 2 ] node [ label x ] ]")
    paid = ("--epsilon", 1, "--budget", tmp_path / "b", "--total", 9, "--analyst", "ann")
    for name, said in (("no.graphml", "is no GraphML"), ("no.gml", "have no id")):
        refused = run("network", "count", "triangles", tmp_path / name, *paid)
        assert (refused.exit_code, said in refused.output) == (2, True), refused.output


def test_edges_are_read_as_they_are_told(run, friends, tmp_path):
    (tmp_path / "people.csv").write_text("name;id\nAnn;a\nBo;b\nCy;c\n")
    (tmp_path / "edges.csv").write_text("from;to\na;b\nb;a\nb;c\nc;c\n")
    asked = ("--key", "id", "--separator", ";", "--total", "2000")
    out = tmp_path / "degrees.csv"
    assert count(run, "degrees", tmp_path / "edges.csv", *asked, "--out", out).exit_code == 0
    assert out.read_text().split() == ["degree,persons", "1,2", "2,1"]
    (tmp_path / "budget.sqlite").unlink()
    both = count(run, "degrees", tmp_path / "edges.csv", *asked, "--as-undirected", "both", "--out", tmp_path / "b.csv")
    assert both.exit_code == 0, both.output
    assert (tmp_path / "b.csv").read_text().split() == ["degree,persons", "0,1", "1,2"]
    for more, said in (
        (("--key", "no"), "no column 'no'"),
        (("--as-undirected", "any"), "either or both"),
        (("--separator", ":"), "two columns of keys"),
    ):
        refused = count(run, "triangles", tmp_path / "edges.csv", *asked, *more)
        assert (refused.exit_code, said in refused.output) == (2, True), refused.output
    lone = run("network", "count", "triangles", friends, "--epsilon", 1, "--budget", tmp_path / "x", "--analyst", "ann")
    assert (lone.exit_code, "a table of all persons by --persons" in lone.output) == (2, True)
