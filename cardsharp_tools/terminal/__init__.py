"""Output to people and programs, and a person's input, for all of cardsharp_tools."""
