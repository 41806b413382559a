"""The application: all commands, and what they share."""

from __future__ import annotations

import io
import signal
import sys
from typing import Annotated

import typer

from sfumato import __version__
from sfumato.cli import (
    _graphs,
    _trajectories,
    _transactions,
    anonymize,
    attack,
    audit,
    compare,
    demo,
    dp,
    explore,
    fuse,
    hierarchy,
    inspect,
    listing,
    local_dp,
    locations,
    mining,
    party,
    report,
    risk,
    series,
    synthesize,
    transform,
    warmup,
    workbench,
)
from sfumato.cli import (
    anonymize as mask,
)
from sfumato.cli import (
    anonymize as relate,
)
from sfumato.cli import (
    compare as trying,
)
from sfumato.cli import (
    compare as utility,
)
from sfumato.cli import (
    inspect as script,
)
from sfumato.cli import (
    query as buckets,
)
from sfumato.cli import (
    query as estimate,
)
from sfumato.cli._errors import ErrorHandlingGroup
from sfumato.cli._options import format_examples
from sfumato.cli._output import set_quiet

STOPPED = {"SIGTERM": 143, "SIGHUP": 129}  # signals that end a process, tidily; Windows knows no SIGHUP

app = typer.Typer(
    cls=ErrorHandlingGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=format_examples(
        "sfumato demo",
        "sfumato inspect patients.csv --out recipe.toml",
        "sfumato anonymize patients.csv --recipe recipe.toml --out release",
        "sfumato audit release/public/table.csv --recipe recipe.toml --original patients.csv",
    ),
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def main_callback(
    context: typer.Context,
    *,
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Publish tables about people: measure the risk, keep a stated privacy promise, and prove it.

    Exit codes of all commands: 0 it was done, and what was judged holds; 1 it was done, and what was judged does not
    hold, or the budget does not allow it; 2 bad request, nothing was done; 70 a flaw of Sfumato; 130 interrupted.
    """
    set_quiet(quiet=False)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("demo", epilog=demo.EXAMPLES)(demo.demo)
app.command("workbench", epilog=workbench.EXAMPLES)(workbench.workbench)
app.command("inspect", epilog=inspect.INSPECT_EXAMPLES)(inspect.inspect)
app.command("anonymize", epilog=anonymize.ANONYMIZE_EXAMPLES)(anonymize.anonymize)
app.command("mask", epilog=mask.MASK_EXAMPLES)(mask.mask_table)
app.command("try", epilog=trying.ALGORITHM_EXAMPLES)(trying.compare_algorithms)
app.command("compare", epilog=compare.COMPARE_EXAMPLES)(compare.compare)
app.command("explore", epilog=explore.EXAMPLES)(explore.explore)
app.command("recode", epilog=transform.EXAMPLES)(transform.transform)
app.add_typer(series.app, name="ledger", epilog=series.EXAMPLES)
app.command("relate", epilog=relate.RELATE_EXAMPLES)(relate.anonymize_related_tables)
app.command("condense", epilog=synthesize.CONDENSE_EXAMPLES)(synthesize.condense)
app.add_typer(_transactions.app, name="baskets", epilog=_transactions.EXAMPLES)
app.add_typer(_graphs.app, name="network", epilog=_graphs.EXAMPLES)
app.add_typer(synthesize.app, name="stream", epilog=synthesize.STREAM_EXAMPLES)
app.add_typer(_trajectories.app, name="ways", epilog=_trajectories.EXAMPLES)
app.add_typer(locations.locations_app, name="places", epilog=locations.LOCATION_EXAMPLES)
app.command("audit", epilog=audit.EXAMPLES)(audit.audit)
app.command("risk", epilog=risk.EXAMPLES)(risk.risk)
app.command("utility", epilog=utility.UTILITY_EXAMPLES)(utility.compare_findings)
app.command("attack", epilog=attack.EXAMPLES)(attack.attack)
app.command("estimate", epilog=estimate.ESTIMATE_EXAMPLES)(estimate.query_release)
app.add_typer(buckets.app, name="buckets", epilog=buckets.BUCKET_EXAMPLES)
app.add_typer(local_dp.app, name="collect", epilog=local_dp.EXAMPLES)
app.add_typer(dp.app, name="query", epilog=dp.EXAMPLES)
app.command("fuse", epilog=fuse.EXAMPLES)(fuse.fuse)
app.add_typer(party.app, name="party", epilog=party.EXAMPLES)
app.add_typer(mining.app, name="rules", epilog=mining.EXAMPLES)
app.command("report", epilog=report.EXAMPLES)(report.render_report_again)
app.command("script", epilog=script.SCRIPT_EXAMPLES)(script.recipe_as_script)
app.add_typer(hierarchy.app, name="hierarchy", epilog=hierarchy.EXAMPLES)
app.command("models", epilog=listing.MODEL_EXAMPLES)(listing.list_models)
app.command("algorithms", epilog=listing.ALGORITHM_EXAMPLES)(listing.list_algorithms)
app.command("steps", epilog=listing.STEP_EXAMPLES)(listing.list_masking_steps)
app.command("formats", epilog=listing.FORMAT_EXAMPLES)(listing.list_formats)
app.command("warmup", epilog=warmup.EXAMPLES)(warmup.warmup)


def main() -> None:
    """Run the command line."""
    run_application(app)


def run_application(application: typer.Typer) -> None:
    """Run an application; files and pipes get UTF-8, and a terminal gets what it can show."""
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, io.TextIOWrapper):
            output.reconfigure(encoding=None if output.isatty() else "utf-8", errors="replace")
    _install_signal_handlers()
    application()


def _install_signal_handlers() -> None:
    """Let signals end a process as an error does, so that nothing half-written remains; nohup still holds."""
    for name, code in STOPPED.items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_, code=code: sys.exit(code))
