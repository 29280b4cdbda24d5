"""Research on Dead Man's Draw: training, compiled twins, opponents, bounds."""
