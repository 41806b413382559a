"""Read: tables come in from dataframes, files and databases, and go out again.

Inside the library every table is a `pyarrow.Table` of canonical types; see `sfumato.table.frames.to_canonical`.
"""
