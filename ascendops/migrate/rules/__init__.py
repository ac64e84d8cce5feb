"""The rules of the scanners: their ids, their pages, and how a hit of a rule becomes a finding."""
