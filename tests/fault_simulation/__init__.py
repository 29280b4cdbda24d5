"""One world of faults: everything between our code and a match, seeded and on virtual time."""
