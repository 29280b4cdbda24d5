"""HTTP servers on this machine: of the arena, and of the services of games."""
