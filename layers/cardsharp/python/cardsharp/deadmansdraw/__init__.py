"""Dead Man's Draw: its rules, what a player may know, the arena's client and the strategies."""
