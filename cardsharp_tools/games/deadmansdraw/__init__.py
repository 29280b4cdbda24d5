"""Tools for Dead Man's Draw: its commands, its matches in a terminal, and the lab's adapter."""
