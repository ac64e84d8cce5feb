"""What the CPU twin can find in the use of the vector unit."""

from __future__ import annotations

from ascendops.twin.finding_kind import error, warning

VECTOR_FINDINGS = (
    error(
        "MASK-RANGE",
        "A mask with more elements than one repeat",
        """One repeat is 256 bytes: 64 elements of 4 bytes, 128 of 2 bytes. A larger mask is executed as one full repeat, so the elements
behind it are not computed. In counter mode (SetMaskCount) the mask counts all elements instead. An int4b_t operand needs an even
number of elements.
Fix: raise the repeat count instead of the mask, or use the form of the API that takes a count.""",
    ),
    error(
        "UNSUPPORTED-DTYPE",
        "The vector unit has no such instruction for this element type",
        """The call compiles for the twin but not for this SoC. Cast to half, float or int32_t first.""",
    ),
    warning(
        "COMPARE-COUNT",
        "Compare of a count that is no whole number of 256-byte repeats",
        """Compare and CompareScalar work on whole repeats: the document requires that count * sizeof(T) is a multiple of 256 and promises
nothing for the rest. The twin computes all elements.
Fix: round the count up to 64 (float) or 128 (half) elements and give all three tensors room for it.""",
    ),
    warning(
        "COMPARE-TAIL",
        "Compare reads past its buffer behind the mask",
        """Compare and CompareScalar ignore the mask on this architecture and read 256 bytes in each repeat. Behind the mask they read a
neighbouring buffer here, inside the memory: the bits of those elements mean nothing. The elements of the mask lie in the buffer.
Fix: give the sources room for whole repeats.""",
    ),
    error(
        "GATHER-ALIGN",
        "A gather or scatter offset that is no multiple of the element size",
        """Offsets count bytes, not elements: multiply indices by sizeof(T).""",
    ),
    error(
        "GATHER-PATTERN",
        "A fixed pattern of GatherMask outside 1 to 7",
        """1: even elements, 2: odd elements, 3 to 6: every fourth element from the first to the fourth, 7: all.""",
    ),
    error(
        "REDUCE-INDEX",
        "An index of ReduceMax or ReduceMin that does not fit a half",
        """The index is stored in the 16 bits of the element type, so 65535 is the largest. Reduce parts of the data, or use float.""",
    ),
    error(
        "SORT-RANGE",
        "A parameter of a sorting instruction outside its range",
        """validBit must be 3, 7 or 15 (two, three or four queues), queue lengths 0 to 4095, and repeatTimes above 1 needs four queues of equal
length. The fields of a region proposal (modeNumber) are 0 to 5.""",
    ),
    warning(
        "UB-OVERLAP",
        "The operands of a vector instruction overlap by parts",
        """A source and the destination must be the same memory or not overlap: within one repeat the unit reads and writes 256 bytes at once, and a
later repeat may read what an earlier one has overwritten (a Cast to a wider type in place, a shift by a few elements). The values depend
on the hardware's order. Use another buffer for the destination.""",
    ),
    error(
        "POOL-CAPACITY",
        "The buffers of a pool do not fit into it",
        """InitBuffer of a TBufPool takes more bytes (each buffer rounded up to 32) than InitBufPool gave the pool. On the device the last
buffers overwrite what lies behind the pool.
Fix: give the pool the sum of its buffers, or fewer buffers.""",
    ),
)  # fmt: skip
