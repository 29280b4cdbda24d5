"""Execution of code that is not ours: strategy files, programs and sandboxed submissions."""
