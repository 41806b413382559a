"""Judge several releases of one table together: exposure and promises over a series."""
