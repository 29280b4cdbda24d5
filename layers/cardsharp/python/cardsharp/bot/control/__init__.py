"""Run-time control of a bot: settings, listening windows and poller shifts."""
