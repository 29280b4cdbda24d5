"""Messages of the match queue, and a queue in memory."""
