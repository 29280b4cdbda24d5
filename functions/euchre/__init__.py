"""Entry point of the Euchre service."""
