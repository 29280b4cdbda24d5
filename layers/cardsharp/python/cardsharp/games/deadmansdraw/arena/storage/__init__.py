"""Repositories of the arena's matches, beside the ports of `cardsharp.store`."""
