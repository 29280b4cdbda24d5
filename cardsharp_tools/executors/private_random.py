"""Random numbers of a player whose code is not ours.

The seed of a match decides its cards. A `Random` gives away its seed: the state of a Mersenne
Twister that was seeded with a text contains that text, and each SplitMix64 stream of the lab can be
computed back to the seed of the run. So other people's code gets a generator of its own. It is
derived one way, by HMAC-SHA256, so the same match can still be played again.

A seed that people choose, such as 1, can be guessed all the same. A contest draws its seeds from a
secret.
"""

import hmac
from random import Random, SystemRandom

_PURPOSE = b"random numbers of a player"
_MATERIAL_WORDS = 4  # of 64 bits each: as many bits as the digest has


class PrivateRandom(Random):
    """Random generator whose state tells nothing about the match."""


def private_rng(match_rng: Random) -> Random:
    """Return the generator for other people's code in place of a generator of the match.

    A generator that tells nothing already is returned unchanged.
    """
    if isinstance(match_rng, PrivateRandom | SystemRandom):
        return match_rng
    material = b"".join(match_rng.getrandbits(64).to_bytes(8) for _ in range(_MATERIAL_WORDS))
    return PrivateRandom(int.from_bytes(hmac.digest(_PURPOSE, material, "sha256")))
