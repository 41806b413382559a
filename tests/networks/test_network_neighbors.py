"""What happens to a question about a network never depends on edges that were not paid for."""

from __future__ import annotations

import warnings

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import graphs, network_of
from purse import Purse
from sfumato.errors import SfumatoError

S = sf.graphs
EPSILONS = [1, 0.5, "8e-12", "1e-12", 10**6, 0, -1, float("nan"), "x", 10**400]
QUESTIONS = {
    "degrees": lambda network, o, **paid: S.private_degrees(network, unit=o["unit"], bound=o["bound"], **paid),
    "graph": lambda network, o, **paid: S.private_graph(network, unit=o["unit"], bound=o["bound"], **paid),
    "triangles": lambda network, _, **paid: S.private_triangles(network, **paid),
    "stars": lambda network, o, **paid: S.private_stars(network, leaves=o["leaves"], **paid),
    "blocks": lambda network, o, **paid: S.private_blocks(
        network, blocks=["a", "b"] * (len(network) // 2) + ["c"] * (len(network) % 2), names=o["names"], **paid
    ),
}


def happening(network, asked):
    """Return what an analyst sees beside the answer, and what was paid."""
    purse = Purse()
    paid = {"epsilon": asked["epsilon"], "accountant": purse, "analyst": "ann"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = QUESTIONS[asked["name"]](network, asked, **paid)
        except SfumatoError as error:
            return type(error), str(error), purse.costs
    bought = asked["unit"] == "person" and asked["bound"] is None
    scale = 0 if bought else getattr(found, "scale", 0)
    return type(found), scale, len(network), purse.costs


@examples(100)
@given(
    graph=graphs(7),
    asked=st.fixed_dictionaries({
        "name": st.sampled_from([*QUESTIONS]),
        "unit": st.sampled_from(["edge", "person", "person", "node"]),
        "bound": st.sampled_from([None, None, 1, 3, 6, 0, 10**30, "x"]),
        "leaves": st.sampled_from([2, 2, 3, 4]),
        "names": st.sampled_from([["a", "b"], ["a"], ["z"], [], ["a", "a"]]),
        "epsilon": st.one_of(st.just(1), st.sampled_from(EPSILONS)),
    }),
)  # fmt: skip
def test_a_question_is_refused_alike_or_answered_whatever_edges_there_are(graph, asked):
    persons = len(graph)
    every = nx.complete_graph(persons)
    seen = [happening(network_of(each), asked) for each in (graph, nx.empty_graph(persons), every)]
    assert repr(seen[1]) == repr(seen[2]) == repr(seen[0])
    assert len(seen[0][-1]) == 1
