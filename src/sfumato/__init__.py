"""Sfumato publishes tables about people: it measures risk, keeps a stated privacy promise, and proves it."""

from lazy_loader import attach_stub

_public, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Load a public name on first use; the version comes from the metadata of the installed package."""
    if name != "__version__":
        return _public(name)
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("sfumato")
    except PackageNotFoundError:  # a checkout that was never installed
        found = "0+unknown"
    globals()[name] = found
    return found
