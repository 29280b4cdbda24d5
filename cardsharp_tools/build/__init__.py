"""Build of everything uploaded to AWS: measured, compared, run and checked, never deployed."""
