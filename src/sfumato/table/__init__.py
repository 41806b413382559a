"""Read: tables come in from dataframes, files and databases, and go out again.

Every table inside the library is a `pyarrow.Table` of canonical types; see `sfumato.table.frames.canonical`.
"""
