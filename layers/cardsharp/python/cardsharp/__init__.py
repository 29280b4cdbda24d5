"""Bots that play card games from the cloud: what every Cardsharp function shares."""

import logging

# Unless somebody listens, a retry would be a bare line on a terminal; functions count and log them.
logging.getLogger("stamina").addHandler(logging.NullHandler())
