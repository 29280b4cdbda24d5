"""Search behind `captain`: sets of cards as bits, learned values, a simulated turn.

Everything here has a twin in C (`native`), which `compiled_search` uses where it is built. The twin
does the same operations in the same order, and tests check that both give equal results.
"""
