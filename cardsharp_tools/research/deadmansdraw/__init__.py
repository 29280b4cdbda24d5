"""Dead Man's Draw: training, the compiled twins, opponents, calibration."""
