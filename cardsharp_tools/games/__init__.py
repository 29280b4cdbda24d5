"""Tools for each game: terminal, commands, protocols for programs, and adapters for the lab."""
