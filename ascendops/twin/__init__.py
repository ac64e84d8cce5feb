"""The CPU twin: compiles unmodified Ascend C and op_host sources with the host compiler and runs them."""
