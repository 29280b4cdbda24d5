"""Tools for this machine only: the local arena, the local cloud and the command line."""

import sys

from cardsharp_tools.project_files import FUNCTIONS_DIR

# The handlers are top-level modules, as Lambda has them; in a clone they are on the path already.
if str(FUNCTIONS_DIR) not in sys.path:
    sys.path.append(str(FUNCTIONS_DIR))
