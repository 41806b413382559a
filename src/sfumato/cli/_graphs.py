"""`sfumato network`: publish, judge and attack networks of persons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import _dp_counts
from sfumato.cli._data_types import (
    KindAlgorithm,
    KindModels,
    KindOut,
    KindRecipeFile,
    NoReport,
    Replace,
    choose_by_name,
    choose_models,
    models_to_audit,
    print_attacks_and_exit,
    print_audit_and_exit,
    recipe_from_option,
    write_and_print_release,
)
from sfumato.cli._options import Hierarchies, Json, Threshold, command_group, expand_option_groups, format_examples
from sfumato.cli._output import print_remark, show_progress_bar
from sfumato.errors import InvalidParameterError, ReadError

if TYPE_CHECKING:
    from sfumato.graphs.graph import Graph
    from sfumato.graphs.models._base import PublishedGraph

EXAMPLES = format_examples(
    "sfumato network anonymize friends.txt --model k-degree:k=5 --out release",
    "sfumato network audit release/public --recipe release/internal/recipe.toml",
    "sfumato network attack release/public --with friends.txt --recipe release/internal/recipe.toml",
)

app = command_group("Publish networks of persons: who knows whom.")
app.add_typer(_dp_counts.graph_counts_app, name="count", epilog=_dp_counts.GRAPH_COUNT_EXAMPLES)


@dataclass(frozen=True, kw_only=True)
class GraphReadingOptions:
    """How a network is read."""

    persons: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of persons; the first column holds their keys.")
    ] = None
    key: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of persons that holds the keys.")] = None
    quasi: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns of persons that an adversary may know; generalized.")
    ] = field(default_factory=list)
    sensitive: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns of persons that nobody should learn.")
    ] = field(default_factory=list)
    insensitive: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns of persons that are published unchanged.")
    ] = field(default_factory=list)
    hierarchy: Hierarchies = field(default_factory=list)
    edge_columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="The columns of the edges that hold the keys of two persons.")
    ] = None
    kind: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column with the kinds of edges.")] = None
    directed: Annotated[bool, typer.Option("--directed", help="Edges have a direction.")] = False
    as_undirected: Annotated[
        str | None, typer.Option(metavar="either|both", help="How directed edges become undirected.")
    ] = None
    simplify: Annotated[bool, typer.Option("--simplify", help="Leave out self-loops and double edges.")] = False

    def options(self, remembered: Mapping[str, Any]) -> dict[str, Any]:
        """Return how to read, as the options or a recipe say, in plain values."""
        from sfumato.cli._recipe_options import set_hierarchies, set_roles
        from sfumato.graphs._pipeline import ROLES, schema_from_options, schema_to_options

        named = ("key", "edge_columns", "kind", "directed", "as_undirected", "simplify")
        given = {name: getattr(self, name) for name in named if getattr(self, name)}
        attributes = dict(schema_to_options(schema_from_options(remembered)).get("attributes", {}))
        set_roles(attributes, {role: getattr(self, role) for role in ("quasi", "sensitive", "insensitive")})
        set_hierarchies(attributes, self.hierarchy)
        kept = {name: remembered[name] for name in (*named, *ROLES) if name in remembered}
        return {**kept, **given, **({"attributes": attributes} if attributes else {})}

    def read(self, file: Path, how: Mapping[str, Any]) -> Graph:
        """Read a network, and say what was left out."""
        from sfumato.cli._recipe_options import split_names
        from sfumato.graphs._pipeline import ROLES, schema_from_options
        from sfumato.graphs.io import GRAPHS, read

        rest = {name: value for name, value in how.items() if name not in ROLES}
        if "edge_columns" in rest:
            rest["edge_columns"] = tuple(split_names(str(rest["edge_columns"])))
        if "attributes" in how and self.persons is None and file.suffix.lower() not in GRAPHS:
            raise InvalidParameterError(
                "Columns of persons have roles, and there is no table of persons; give it by --persons."
            )
        with show_progress_bar("Reading"):
            network = read(file, persons=self.persons, schema=schema_from_options(how), **rest)
        for what, count in network.dropped.items():
            print_remark(f"{count:,} {what} were left out.")
        return network


@app.command(
    "anonymize",
    epilog=format_examples(
        "sfumato network anonymize dolphins.gml --model k-degree:k=3 --out release",
        "sfumato network anonymize friends.txt --model k-degree:k=5 \\",
        "    --algorithm degree-sequence:edges=add --out release",
        "sfumato network anonymize edges.csv --persons people.csv --quasi age,zip --sensitive disease \\",
        "    --hierarchy age=intervals:5,10,20 --hierarchy zip=prefixes \\",
        "    --model p-sensitive-k-anonymity:p=2,k=5,sensitive=disease --algorithm sangreea --out release",
        "sfumato network anonymize friends.txt --recipe release/internal/recipe.toml --out again",
    ),
)
@expand_option_groups
def anonymize_graph(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The edges.", show_default=False)],
    out: KindOut,
    model: KindModels = [],  # noqa: B006 - Typer copies it
    algorithm: KindAlgorithm = None,
    recipe: KindRecipeFile = None,
    reading: GraphReadingOptions,
    table_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="The form of the files: csv or parquet.")
    ] = "csv",
    replace: Replace = False,
    no_report: NoReport = False,
    json: Json = False,
) -> None:
    """Publish a network so that what somebody knows of its structure finds nobody.

    The models choose the usual search, unless one is named. Files are lists of edges (.txt: two keys a line, as SNAP
    has them), GraphML, GML, or a table with a row for each edge.
    """
    from sfumato.core._atomic_writes import check_target_free
    from sfumato.graphs._catalogue import ALGORITHMS, MODELS, read_recipe
    from sfumato.graphs._pipeline import anonymize as make
    from sfumato.graphs._pipeline import run_recipe

    check_target_free(out, replace=replace)
    known = recipe_from_option(recipe, read_recipe, model, algorithm)
    models = () if known is not None else choose_models(model, MODELS)
    how = reading.options(known.input if known else {})
    network = reading.read(file, how)
    with show_progress_bar("Searching") as tell:
        if known is not None:
            release = run_recipe(known, network, progress=tell)
        else:
            search = None if algorithm is None else choose_by_name("algorithm", algorithm, ALGORITHMS)
            release = make(network, models=models, algorithm=search, source=how, progress=tell)
    write_and_print_release(release, out, table_format=table_format, replace=replace, report=not no_report, json=json)


@app.command(
    "audit",
    epilog=format_examples(
        "sfumato network audit release/public --recipe release/internal/recipe.toml",
        "sfumato network audit friends.txt --model k-candidates:k=5,knowledge=H2 --json",
        "sfumato network audit release/public --model k-automorphism:k=5 --alignment release/internal/alignment.csv",
    ),
)
@expand_option_groups
def audit_graph(
    *,
    published: Annotated[
        Path, typer.Argument(metavar="DIR|FILE", help="The folder public/, or a file of edges.", show_default=False)
    ],
    model: KindModels = [],  # noqa: B006 - Typer copies it
    recipe: KindRecipeFile = None,
    alignment: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The rows of persons who can take each other's place.")
    ] = None,
    reading: GraphReadingOptions,
    json: Json = False,
) -> None:
    """Judge a published network from its files alone; the exit code is 1 if a promise does not hold."""
    from sfumato.graphs._catalogue import MODELS, read_recipe
    from sfumato.graphs._pipeline import schema_from_options
    from sfumato.graphs._release import UNDECIDED
    from sfumato.graphs._release import audit as judge
    from sfumato.graphs.io import read_published

    models = models_to_audit(model, recipe, read_recipe, MODELS)
    with show_progress_bar("Judging"):
        if published.is_dir():
            found = read_published(
                published, schema_from_options(reading.options(read_recipe(recipe).input if recipe else {}))
            )
        else:
            found = reading.read(published, reading.options({}))
        found = found if alignment is None else _with_alignment(found, alignment)
        judged = judge(found, models=models)
    if UNDECIDED in judged.summary:
        print_remark(
            "Who can take whose place is not in the published files; give internal/alignment.csv by --alignment."
        )
    print_audit_and_exit(judged, json=json)


@app.command(
    "attack",
    epilog=format_examples(
        "sfumato network attack release/public --with friends.txt --recipe release/internal/recipe.toml",
        "sfumato network attack release/public --with friends.txt --recipe release/internal/recipe.toml \\",
        "    --knowledge H2 --seeds 50 --overlap 0.95 --json",
    ),
)
@expand_option_groups
def attack_graph(
    *,
    published: Annotated[Path, typer.Argument(metavar="DIR", help="The folder public/.", show_default=False)],
    with_: Annotated[Path, typer.Option("--with", metavar="FILE", help="The original edges.", show_default=False)],
    recipe: Annotated[
        Path, typer.Option("--recipe", metavar="FILE", help="The recipe, which tells who is who.", show_default=False)
    ],
    knowledge: Annotated[
        str, typer.Option(metavar="H1,H2,...", help="What is known of the structure around a person.")
    ] = "H1,H2,H3,neighborhood,hubs-5,subgraph-10",
    targets: Annotated[int, typer.Option(metavar="N", help="How many persons or pairs are attacked.")] = 200,
    seeds: Annotated[int, typer.Option(metavar="N", help="How many persons are known in both networks.")] = 20,
    overlap: Annotated[float, typer.Option(metavar="SHARE", help="The share of relations that are known.")] = 0.9,
    runs: Annotated[int, typer.Option(metavar="N", help="How many times it starts from other seeds.")] = 10,
    plantings: Annotated[int, typer.Option(metavar="N", help="How many groups of persons are planted.")] = 20,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Repeats the draws.")] = None,
    reading: GraphReadingOptions,
    threshold: Threshold = None,
    json: Json = False,
) -> None:
    """Attack a published network and its original; the release is made again to learn who is who.

    Exit codes: 0 what was judged holds, 1 an attack on what is published is surely right more often than --threshold, 2
    bad request.
    """
    from sfumato._randomness import draw_seed
    from sfumato.graphs._catalogue import read_recipe
    from sfumato.graphs._pipeline import run_recipe
    from sfumato.graphs.attacks._attack import attack as run
    from sfumato.graphs.io import equal_published, read_published

    known = read_recipe(recipe)
    original = reading.read(with_, reading.options(known.input))
    options: dict[str, Any] = {
        "knowledge": [each.strip() for each in knowledge.split(",")],
        "targets": targets,
        "seeds": seeds,
        "overlap": overlap,
        "runs": runs,
        "plantings": plantings,
        "seed": draw_seed() if seed is None else seed,
    }
    with show_progress_bar("Attacking"):
        release = run_recipe(known, original)
        if not equal_published(read_published(published, release.published.schema), release.published):
            raise InvalidParameterError(
                "The recipe and these edges give another network than that published; give what it was made from."
            )
        before, after = run(original, original, **options), run(release, original, **options)
    print_attacks_and_exit(before, after, threshold=threshold, json=json)


def _with_alignment(found: PublishedGraph, path: Path) -> PublishedGraph:
    """Add the rows of persons who can take each other's place, which the owner keeps."""
    import numpy as np

    from sfumato.graphs.graph import Graph

    try:
        rows = np.loadtxt(path, delimiter=",", dtype=np.int64, ndmin=2)
    except (OSError, ValueError):
        raise ReadError(f"{path} has no rows of numbers of persons; give the file alignment.csv.") from None
    return replace(found, alignment=rows) if isinstance(found, Graph) else found
