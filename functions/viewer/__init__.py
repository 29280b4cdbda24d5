"""The pages of the match log's matches."""
