"""Research on Blef: solved small rounds, trained tables, and benchmarks."""
