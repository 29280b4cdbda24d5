"""Contests at the arena: it as their tables, its pages, and the director in the cloud."""
