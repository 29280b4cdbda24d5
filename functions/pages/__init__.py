"""Lambda function that serves the matches of the match log as web pages."""
