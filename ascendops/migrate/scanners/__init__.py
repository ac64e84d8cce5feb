"""Scanners: text in, findings out. None of them runs or imports what it reads."""
