"""The engine once more in C, for measuring only: the same answers, many times as fast."""
