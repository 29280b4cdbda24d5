"""A whole match on this machine: an arena, our bot in its cloud shape, and an opponent."""
