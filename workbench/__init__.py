"""Tools for this machine only: the local arena, the local cloud and the command line."""

import sys

from workbench.files import FUNCTIONS

# The handlers are top-level modules, as Lambda has them; in a clone they are on the path already.
if str(FUNCTIONS) not in sys.path:
    sys.path.append(str(FUNCTIONS))
