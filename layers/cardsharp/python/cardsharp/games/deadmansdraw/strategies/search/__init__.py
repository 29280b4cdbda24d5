"""Search behind `captain`: sets of cards as bits, learned values, a simulated turn.

Everything here has a twin in C (`cardsharp_tools/research/deadmansdraw/native`), which is for the
lab only. The twin does the same operations in the same order, and tests check that both give equal
results.
"""
