"""The page of a match: any game's stored match as steps to go through, made on the server.

A game brings its replay and how its table is drawn (`board` in its game.py); all else is here.
"""
