"""Dead Man's Draw on this machine: its commands, and its matches drawn in a terminal."""
