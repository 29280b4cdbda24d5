"""Names in C sources, for the naming lint."""

import re
from collections.abc import Mapping

_NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|#include[^\n]*', re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")


def c_identifiers(text: str) -> Mapping[str, int]:
    """Return the names in a C source, without its comments and strings, with their first lines."""
    code = _NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    first_lines = dict[str, int]()
    for line_number, line in enumerate(code.splitlines(), 1):
        for name in _NAME.findall(line):
            first_lines.setdefault(name, line_number)
    return first_lines
