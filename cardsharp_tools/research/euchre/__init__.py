"""Euchre: the compiled engine, studies of strength and time, recorded decisions judged."""
