"""What can go wrong, as a tree.

    SfumatoError
    ├── InvalidParameterError (ValueError)   a parameter is outside its range
    ├── SchemaError (ValueError)             roles, scales or columns do not fit the table
    ├── HierarchyError (ValueError)          a hierarchy misses values or is not a function
    ├── ReadError                            a file, database or table cannot be read
    ├── WriteError                           a file or database cannot be written; nothing half-written remains
    ├── RecipeError (ValueError)             a recipe file is not one
    ├── PluginError                          what another package adds cannot be used
    ├── InfeasibleError                      no release can keep what was asked
    ├── UnsupportedModelError (ValueError)   an algorithm cannot serve a model
    ├── ProtocolError                        another party sent something else than agreed, or left
    └── BrokenPromiseError                   a release failed its own audit and was withheld

Every message is one sentence that names columns, parameters and counts, never cell values.
"""


class SfumatoError(Exception):
    """Anything Sfumato refuses to do."""


class InvalidParameterError(SfumatoError, ValueError):
    """A parameter lies outside its range."""


class SchemaError(SfumatoError, ValueError):
    """Roles, scales or columns do not fit the table."""


class HierarchyError(SfumatoError, ValueError):
    """A hierarchy misses values or is not a function."""


class ReadError(SfumatoError):
    """A file, database or table cannot be read."""


class WriteError(SfumatoError):
    """A file or database cannot be written."""


class RecipeError(SfumatoError, ValueError):
    """A recipe or another TOML file cannot be read or understood."""


class PluginError(SfumatoError):
    """What another package adds to Sfumato cannot be used."""


class InfeasibleError(SfumatoError):
    """No release can keep what was asked."""


class UnsupportedModelError(SfumatoError, ValueError):
    """An algorithm cannot serve one of the models."""


class ProtocolError(SfumatoError):
    """Another party sent something else than agreed, or left."""


class BrokenPromiseError(SfumatoError):
    """A release failed its own audit and was withheld."""
