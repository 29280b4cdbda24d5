"""`python -m cardsharp_tools.cli`."""

import sys

from cardsharp_tools.cli import main

sys.exit(main())
