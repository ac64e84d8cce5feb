"""The fact tables of `ascendops/data/migration`, joined by name."""
