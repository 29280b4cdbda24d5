"""People at a table: who plays whom, and a seat that is taken in a browser."""
