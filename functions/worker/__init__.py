"""Worker function."""
