"""Input and output: dataframes, files and databases.

Inside the library every table is a `pyarrow.Table` of canonical types; see `sfumato.io._dataframes.to_canonical`.
"""
