"""The search behind `captain`: sets of cards as bits, learned values, a turn in thought.

Everything here has a twin in C (`workbench/lab/native`), for the lab only, that does the same
operations in the same order; tests hold the two equal.
"""
