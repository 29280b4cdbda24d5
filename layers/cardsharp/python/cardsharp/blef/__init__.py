"""Blef: its rules, what a player may know, and the service that runs its games."""
