"""The ATen operators of a model: captured in a worker process, joined to the support table."""
