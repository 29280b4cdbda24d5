"""Documents by key: the port under what is kept, and its adapters."""
