"""Finding and reading what is scanned: files, notebooks, cells."""
