"""Tools for Euchre: a server, duels, and a seat for a person."""
