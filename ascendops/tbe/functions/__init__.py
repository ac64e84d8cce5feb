"""The functions of tbe.dsl: each builds a node, and each kind of node says how it is evaluated."""
