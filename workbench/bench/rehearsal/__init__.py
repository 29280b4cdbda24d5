"""A whole contest with everything that goes wrong in one, played as a test of the organiser's."""
