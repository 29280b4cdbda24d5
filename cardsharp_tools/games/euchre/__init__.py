"""Euchre on this machine: a server, duels, and a seat at the table for you."""
