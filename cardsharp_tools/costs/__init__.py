"""Monthly cost of Cardsharp: measured usage multiplied by a dated price list."""
