"""`sfumato baskets`: publish, judge and attack sets of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from sfumato.cli._dp_counts import LOG_EXAMPLES, log_counts
from sfumato.cli._options import Json, Threshold, command_group, expand_option_groups, format_examples
from sfumato.cli._output import print_remark, show_progress_bar
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.core.model import Model
    from sfumato.hierarchies.taxonomy import Taxonomy
    from sfumato.transactions._published import PublishedTransactions
    from sfumato.transactions.transactions import Transactions

EXAMPLES = format_examples(
    "sfumato baskets anonymize retail.dat --model km-anonymity:k=5,m=2 --out release",
    "sfumato baskets audit release/public --recipe release/internal/recipe.toml",
    "sfumato baskets attack release/public --with retail.dat --recipe release/internal/recipe.toml",
)
Published = Annotated[
    Path, typer.Argument(metavar="DIR|FILE", help="The folder public/, or a file of baskets.", show_default=False)
]
TaxonomyFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The taxonomy of the items: a CSV file, one line per item (item;level1;...;*)."),
]

app = command_group("Publish sets of items: baskets, diagnoses, search queries.")
app.command("log", epilog=LOG_EXAMPLES)(log_counts)


@dataclass(frozen=True, kw_only=True)
class TransactionReadingOptions:
    """How baskets are read."""

    person: Annotated[str | None, typer.Option(metavar="COLUMN", help="Of a table: whose items these are.")] = None
    item: Annotated[str | None, typer.Option(metavar="COLUMN", help="Of a table: the items, or lists of them.")] = None
    item_separator: Annotated[
        str | None,
        typer.Option(metavar="CHAR", help='Between the items of a cell; "" if each cell is one item.'),
    ] = None
    sensitive: Annotated[str | None, typer.Option(metavar="A,B,...", help="Items that nobody should be linked to.")] = (
        None
    )

    def options(self) -> dict[str, Any]:
        """Return the options of `sf.transactions.read` that are given."""
        given = {name: getattr(self, name) for name in ("person", "item", "item_separator")}
        named = {name: value for name, value in given.items() if value is not None}
        listed = {} if self.sensitive is None else {"sensitive": [each.strip() for each in self.sensitive.split(",")]}
        return {**named, **listed}

    def read(self, file: Path, remembered: dict[str, Any]) -> tuple[Transactions, dict[str, Any]]:
        """Read baskets as the options or a recipe say, and return how they were read."""
        from sfumato.transactions.io import read

        known = {each.name: remembered[each.name] for each in fields(self) if each.name in remembered}
        how = {**known, **self.options()}
        with show_progress_bar("Reading"):
            baskets = read(file, **how)
        if baskets.empty:
            print_remark(f"{baskets.empty:,} persons have no items; they are not published.")
        if baskets.united:
            print_remark(f"{baskets.united:,} baskets were united with another one of the same person.")
        return baskets, how


@app.command(
    "anonymize",
    epilog=format_examples(
        "sfumato baskets anonymize retail.dat --model km-anonymity:k=5,m=2 --out release",
        "sfumato baskets anonymize visits.csv --person patient --item diagnosis --taxonomy icd.csv \\",
        "    --model km-anonymity:k=5,m=2 --algorithm local-recoding:part_size=2000 --out release",
        "sfumato baskets anonymize retail.dat --recipe release/internal/recipe.toml --out again",
    ),
)
@expand_option_groups
def anonymize_transactions(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The baskets.", show_default=False)],
    out: KindOut,
    model: KindModels = [],  # noqa: B006 - Typer copies it
    algorithm: KindAlgorithm = None,
    recipe: KindRecipeFile = None,
    taxonomy: TaxonomyFile = None,
    fan_out: Annotated[
        int | None,
        typer.Option(metavar="N", help="Without a taxonomy, generalize by a balanced one whose groups join N."),
    ] = None,
    reading: TransactionReadingOptions,
    table_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="The form of the files: csv, parquet or fimi.")
    ] = "csv",
    replace: Replace = False,
    no_report: NoReport = False,
    json: Json = False,
) -> None:
    """Publish baskets so that no few known items find a person.

    Files are FIMI text (.dat: one basket a line), a Parquet file with lists of items, a table with one row for each
    person and item, or lines of items between commas. The models choose the usual search, unless one is named: baskets
    are taken apart, or generalized where there is a taxonomy. A balanced one joins items in the order of their names,
    and its groups are named by them.
    """
    from sfumato.core._atomic_writes import check_target_free
    from sfumato.transactions._catalogue import MODELS, read_recipe
    from sfumato.transactions._pipeline import anonymize as make
    from sfumato.transactions._pipeline import run_recipe
    from sfumato.transactions.taxonomy import balanced_taxonomy

    check_target_free(out, replace=replace)
    known = recipe_from_option(recipe, read_recipe, model, algorithm)
    baskets, how = reading.read(file, dict(known.input) if known else {})
    with show_progress_bar("Searching") as tell:
        if known is not None:
            release = run_recipe(known, baskets, progress=tell)
        else:
            models = choose_models(model, MODELS)
            tree = _taxonomy(taxonomy) or (
                None if fan_out is None else balanced_taxonomy(baskets.items, fan_out=fan_out)
            )
            search = _search(algorithm, models, baskets, tree)
            release = make(baskets, models=models, algorithm=search, source=how, progress=tell)
    write_and_print_release(release, out, table_format=table_format, replace=replace, report=not no_report, json=json)


@app.command(
    "audit",
    epilog=format_examples(
        "sfumato baskets audit release/public --model km-anonymity:k=5,m=2",
        "sfumato baskets audit retail.dat --model km-anonymity:k=5,m=3 --json",
    ),
)
@expand_option_groups
def audit_transactions(
    *,
    published: Published,
    model: KindModels = [],  # noqa: B006 - Typer copies it
    recipe: KindRecipeFile = None,
    reading: TransactionReadingOptions,
    json: Json = False,
) -> None:
    """Judge published baskets from their files alone; the exit code is 1 if a promise does not hold."""
    from sfumato.transactions._catalogue import MODELS, read_recipe
    from sfumato.transactions._release import audit as judge

    models = models_to_audit(model, recipe, read_recipe, MODELS)
    with show_progress_bar("Judging"):
        found = judge(_read_published_transactions(published, reading), models=models)
    print_audit_and_exit(found, json=json)


@app.command(
    "attack",
    epilog=format_examples(
        "sfumato baskets attack release/public --with retail.dat --recipe release/internal/recipe.toml",
        "sfumato baskets attack release/public --with retail.dat --taxonomy tree.csv --m 3 --targets 5000",
    ),
)
@expand_option_groups
def attack_transactions(
    *,
    published: Published,
    original: Annotated[
        Path, typer.Option("--with", metavar="FILE", help="The original baskets, of whom she knows items.")
    ],
    m: Annotated[int, typer.Option("--m", metavar="N", help="How many items she knows.")] = 2,
    k: Annotated[int, typer.Option("--k", metavar="N", help="Count targets who match fewer baskets.")] = 5,
    targets: Annotated[int, typer.Option(metavar="N", help="How many persons to attack.")] = 1000,
    recipe: KindRecipeFile = None,
    taxonomy: TaxonomyFile = None,
    reading: TransactionReadingOptions,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Repeat the same draws.")] = None,
    threshold: Threshold = None,
    json: Json = False,
) -> None:
    """Attack published baskets, and the original beside them, as somebody who knows a few items would.

    Exit codes: 0 what was judged holds, 1 an attack on what is published is surely right more often than --threshold, 2
    bad request.
    """
    from sfumato._randomness import draw_seed
    from sfumato.transactions._catalogue import read_recipe
    from sfumato.transactions.attacks import attack as run

    known = recipe_from_option(recipe, read_recipe, (), None)
    tree = _taxonomy(taxonomy) or getattr(known.algorithm if known else None, "taxonomy", None)
    baskets, _ = reading.read(original, dict(known.input) if known else {})
    drawn = draw_seed() if seed is None else seed
    with show_progress_bar("Attacking"):
        sides = {
            "original": run(baskets, baskets, m=m, k=k, targets=targets, seed=drawn),
            "published": run(
                _read_published_transactions(published, TransactionReadingOptions()),
                baskets,
                m=m,
                k=k,
                targets=targets,
                taxonomy=tree,
                seed=drawn,
            ),
        }
    print_attacks_and_exit(sides["original"], sides["published"], threshold=threshold, json=json)


def _taxonomy(path: Path | None) -> Taxonomy | None:
    from sfumato.hierarchies.taxonomy import Taxonomy

    return None if path is None else Taxonomy.read_csv(path)


def _search(algorithm: str | None, models: Sequence[Model[Any]], baskets: Transactions, tree: Taxonomy | None) -> Any:
    """Return the search that is named, or the usual one that generalizes if there is a taxonomy; None for the usual."""
    from sfumato.core.algorithm import usual_search
    from sfumato.transactions._catalogue import ALGORITHMS
    from sfumato.transactions.algorithms._generalization import TaxonomyGeneralization
    from sfumato.transactions.taxonomy import balanced_taxonomy

    if algorithm is None and tree is None:
        return None
    if algorithm is None:
        generalizing = [each for each in ALGORITHMS.values() if issubclass(each, TaxonomyGeneralization)]
        usual: Any = usual_search(models, baskets, generalizing)
        return replace(usual, taxonomy=tree)
    search = ALGORITHMS.get(algorithm.partition(":")[0])
    if search is not None and issubclass(search, TaxonomyGeneralization):
        return choose_by_name(
            "algorithm", algorithm, ALGORITHMS, taxonomy=(tree or balanced_taxonomy(baskets.items)).to_dict()
        )
    if search is not None and tree is not None:
        raise InvalidParameterError(f"{algorithm} uses no taxonomy; leave out --taxonomy and --fan-out.")
    return choose_by_name("algorithm", algorithm, ALGORITHMS)


def _read_published_transactions(path: Path, reading: TransactionReadingOptions) -> PublishedTransactions:
    """Read published sets from their folder, or baskets from a file."""
    from sfumato.transactions._release import read_published
    from sfumato.transactions.io import read

    return read_published(path) if path.is_dir() else read(path, **reading.options())
