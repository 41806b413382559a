"""What other packages add: models, algorithms and formats that their entry points name.

Nothing of another package is imported before somebody asks for it by its name or for the list of everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from sfumato.errors import PluginError, SfumatoError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
BUILT_IN = "sfumato"


@dataclass(frozen=True, kw_only=True)
class RegistryEntry(Generic[T]):
    """One choice, with the package that it comes from; of one that cannot be used, why not."""

    name: str
    package: str
    choice: T | None = None
    problem: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Registry(Mapping[str, T]):
    """Everything of one kind that there is, by name: Sfumato's own and, after these, what other packages add.

    A name of Sfumato's own always means Sfumato's own. Another package's is imported when it is looked up; if it
    cannot be used, that raises a `PluginError`, and everything else works as before.

    Parameters
    ----------
    what : what a choice is called in sentences.
    group : the group of entry points that add to the choices.
    built_in : Sfumato's own, by name.
    flaw : says what is wrong with something that was loaded, in words that follow "it", or nothing.
    """

    what: str
    group: str
    built_in: Mapping[str, T]
    flaw: Callable[[object], str | None]

    def __getitem__(self, name: str) -> T:
        if name in self.built_in:
            return self.built_in[name]
        found = [point for point in self._entry_points() if point.name == name]
        if not found:
            raise KeyError(name)
        return self._unique_entry(found)

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        yield from sorted({point.name for point in self._entry_points()} - set(self.built_in))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or any(point.name == name for point in self._entry_points())

    def entries(self) -> Iterator[RegistryEntry[T]]:
        """List everything with its package, also what cannot be used."""
        for name, choice in self.built_in.items():
            yield RegistryEntry(name=name, package=BUILT_IN, choice=choice)
        points = self._entry_points()
        for point in points:
            alike = [other for other in points if other.name == point.name]
            try:
                yield RegistryEntry(name=point.name, package=_package(point), choice=self._unique_entry(alike))
            except PluginError as error:
                yield RegistryEntry(name=point.name, package=_package(point), problem=str(error))

    def _entry_points(self) -> list[EntryPoint]:
        from importlib.metadata import entry_points

        return sorted(entry_points(group=self.group), key=lambda point: (point.name, _package(point)))

    def _unique_entry(self, points: list[EntryPoint]) -> T:
        """Load what is added under one name, if one package does so and what it adds is sound."""
        point = points[0]
        if point.name in self.built_in:
            raise PluginError(self._unknown_name_message(point, "has a name that Sfumato itself uses"))
        if len(points) > 1:
            packages = " and ".join(repr(_package(each)) for each in points)
            raise PluginError(
                f"The {self.what} {point.name!r} is added by {packages}, so none is used; uninstall all but one."
            )
        try:
            loaded = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever another package does when it is imported
            raise PluginError(
                self._unknown_name_message(point, f"cannot be loaded ({_describe_error(error)})")
            ) from None
        flaw = self.flaw(loaded) or _mismatched_name(loaded, point.name)
        if flaw is not None:
            raise PluginError(self._unknown_name_message(point, flaw))
        return loaded  # type: ignore[no-any-return]  # `flaw` has judged it

    def _unknown_name_message(self, point: EntryPoint, flaw: str) -> str:
        return (
            f"The {self.what} {point.name!r} of the package {_package(point)!r} cannot be used because it {flaw}; "
            "update or uninstall that package."
        )


def _package(point: EntryPoint) -> str:
    return (point.dist and point.dist.name) or "unknown"


def _mismatched_name(loaded: object, name: str) -> str | None:
    own = getattr(loaded, "name", None)
    if not isinstance(own, str):
        return "has no name"
    return None if own == name else f"calls itself {own!r}"


def _describe_error(error: BaseException) -> str:
    """Say what went wrong; other errors than those of importing may quote anything, so they are told by type alone."""
    told = str(error) if isinstance(error, ImportError | AttributeError | SfumatoError) else ""
    return " ".join(told.rstrip(".").split()) or type(error).__name__
