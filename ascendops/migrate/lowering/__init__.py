"""Does a Triton kernel compile for Ascend? The real front end and compiler, in a subprocess, without CANN and without running the file.

A kernel's file is never imported: `slices` takes out the kernels, their helpers and their constants; `arguments` and `choices`
find the types and the compile-time values of a launch; `worker` (a subprocess in the private toolchain) lowers them; `hivm` and
`hints` read the result; `lint` adds what the compiler wrongly accepts.
"""
