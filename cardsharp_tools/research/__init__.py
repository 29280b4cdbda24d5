"""Research (optional): how the strategies were made, and their compiled twins."""
