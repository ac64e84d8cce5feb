"""The TBE twin: operators written with tbe.dsl, evaluated on the CPU with the dtypes of the op.

`site/` holds modules called tbe, te, topi and impl.util.platform_adapter; they are importable only inside `ascendops.tbe.modules.installed()`.
"""
