"""Optional: how the strategies came about, and their compiled twins. Nothing imports it."""
