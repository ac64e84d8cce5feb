"""Cases from elsewhere: TTK's CSV files, dumps of msprobe, exports of TritonBench."""

from ascendops.testing.given.case import Given, GivenCase, read, recorded

__all__ = ["Given", "GivenCase", "read", "recorded"]
