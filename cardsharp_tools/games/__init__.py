"""Tools for each game: terminal, commands, encodings and adapters for the lab."""
