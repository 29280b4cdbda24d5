"""The poller function."""
