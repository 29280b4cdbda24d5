"""Research on Euchre: the compiled engine."""
