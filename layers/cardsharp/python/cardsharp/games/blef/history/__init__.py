"""Stored matches of Blef: log records and replay."""
