"""Fault simulation: everything between our code and a match, seeded and on virtual time."""
