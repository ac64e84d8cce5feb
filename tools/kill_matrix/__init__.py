"""Honest and wrong implementations of common operators, judged by our rules and by published ones: `python -m tools.kill_matrix`."""
