"""The search behind `captain`: sets of cards as bits, learned values, a simulated turn.

Everything here has a twin in C (`cardsharp_tools/research/deadmansdraw/native`), for the lab
only, that does the
same operations in the same order; tests hold the two equal.
"""
