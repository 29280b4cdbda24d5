"""Euchre on this machine: a coordinator, a server, duels, and a seat at the table for you."""
