"""What would be uploaded to AWS: built, measured, compared, run and checked; never deployed."""
