"""The games as environments of PettingZoo, for who trains a player (docs/environments.md).

Here and not in the library, for nothing that is deployed may need numpy.
"""
