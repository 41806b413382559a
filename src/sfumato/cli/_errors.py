"""How commands fail: one sentence on the error stream, an exit code, and never a cell value."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import typer
from typer.core import TyperGroup

from sfumato.cli._output import print_remark
from sfumato.cli._terms import command_terms, to_shell_terms
from sfumato.errors import GuaranteeViolatedError, ReadWarning, ReleaseWarning, SfumatoError

if TYPE_CHECKING:
    from typer.models import Context

DOES_NOT_HOLD = 1
BAD_REQUEST = 2
ARGUMENTS = "sfumato-arguments"
FLAW = 70  # os.EX_SOFTWARE, which not every system names
INTERRUPTED = 130
PLAIN_WARNING = warnings.showwarning


class ErrorHandlingGroup(TyperGroup):
    """A group of commands that report each failure in one sentence."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parse the options before a command."""
        given = list(args)
        with handle_errors():
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[ARGUMENTS] = given
        return context

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what is told of files that it reads is printed as remarks are."""
        with command_terms(self, ctx.meta.get(ARGUMENTS, [])), handle_errors(), warnings.catch_warnings():
            warnings.simplefilter("always", ReadWarning)
            warnings.simplefilter("always", ReleaseWarning)
            warnings.showwarning = _show_warning
            return super().invoke(ctx)


def _show_warning(  # noqa: PLR0917 - as Python calls it
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning without the place in the program that it comes from, which tells users nothing."""
    if issubclass(category, ReadWarning | ReleaseWarning):
        print_remark(str(message))
    else:
        PLAIN_WARNING(message, category, filename, lineno, file, line)


@contextmanager
def handle_errors() -> Iterator[None]:
    """Turn failures into a sentence and an exit code.

    Of an unexpected error only the type and the place are printed, since its message may contain a cell value.
    """
    try:
        yield
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except typer.TyperException as error:
        raise exit_with_error(_usage_message(error), error.exit_code) from None
    except GuaranteeViolatedError as error:
        raise exit_with_error(to_shell_terms(str(error)), DOES_NOT_HOLD) from None
    except SfumatoError as error:
        raise exit_with_error(to_shell_terms(str(error)), BAD_REQUEST) from None
    except KeyboardInterrupt:
        raise exit_with_error(
            "Interrupted; no partial files were left behind, except what --resume keeps to continue.", INTERRUPTED
        ) from None
    except MemoryError:
        raise exit_with_error("There is not enough memory for this table.", BAD_REQUEST) from None
    except Exception as error:  # noqa: BLE001 - the last door: exit code 1 would say that a promise is broken
        typer.echo("".join(traceback.format_tb(error.__traceback__)), err=True, nl=False)
        flaw = f"An unexpected {type(error).__name__} occurred here; please report it as a bug."
        raise exit_with_error(flaw, FLAW) from None


def exit_with_error(sentence: str, exit_code: int) -> typer.Exit:
    """Print the reason on the error stream, in one line, and return the exit to raise."""
    sys.stdout.flush()
    typer.echo(f"sfumato: {' '.join(sentence.split())}", err=True)
    return typer.Exit(exit_code)


def _usage_message(error: typer.TyperException) -> str:
    context: Context | None = getattr(error, "ctx", None)
    hint = "" if context is None else f" Try '{context.command_path} --help'."
    said = error.format_message()
    return f"{said}{'' if said.endswith(('.', '?')) else '.'}{hint}"
