"""Sources of matches: logs, contests, arenas and recordings, and how a match is found in them."""
