"""The lab's engine in C: optional, and tested equal to plain Python.

`load()` compiles the `.c` files of this folder with the machine's C compiler into a library in
the user's cache folder, named by the hash of the sources, and opens it; without a compiler it
returns None and the lab plays in plain Python, slower and with the same results.

How a policy plugs in stands in `core.h`: a C function from a `Table`, which holds only what a
player may know, to an action, named by `REGISTER_POLICY`. Here it is `engine.policy("name")`:

    engine = load()
    if engine is not None:
        players = engine.policy("a"), engine.policy("b")
        results = engine.play_pairs(players, seed=1, first=0, count=500)

A call lets go of the interpreter lock, so threads use all cores; a pair depends on the seed and
its number alone. `CC` in the environment names another compiler, `CARDSHARP_NATIVE=0` turns the
engine off.
"""

from workbench.compiling import why_not
from workbench.lab.native.engine import Engine, NativePolicy, NativeResult, load

__all__ = ["Engine", "NativePolicy", "NativeResult", "load", "why_not"]
