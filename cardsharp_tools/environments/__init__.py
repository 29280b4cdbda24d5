"""The games as environments of PettingZoo, for training a player (docs/environments.md).

They are here and not in the library, because nothing that is deployed may need numpy.
"""
