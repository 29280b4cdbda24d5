"""Filter patterns of CloudWatch Logs for lines without structure, as AWS documents them.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html: terms are
case-sensitive; all must be there, or with a question mark before each any of them; one with a minus
must be missing. The emulator takes the question mark for a character and ignores the case.
"""

import re
from collections.abc import Callable

_TERM = re.compile(r'([?-]?)(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))')
_OTHER = ("{", "[", "%")
"""What patterns begin with that are of another kind."""

Matches = Callable[[str], bool]


def matcher(pattern: str, other: Callable[[str], Matches]) -> Matches:
    """Whether a line matches the pattern; `other` makes that of a pattern of another kind."""
    if pattern.strip().startswith(_OTHER):
        return other(pattern)
    terms = {"": list[str](), "?": list[str](), "-": list[str]()}
    for sign, quoted, bare in _TERM.findall(pattern):
        terms[sign].append(re.sub(r"\\(.)", r"\1", quoted) or bare)

    def matches(line: str) -> bool:
        # Beside other terms AWS ignores those with a question mark.
        anyhow = bool(terms[""]) or not terms["?"] or any(one in line for one in terms["?"])
        return (
            anyhow
            and all(one in line for one in terms[""])
            and not any(one in line for one in terms["-"])
        )

    return matches


def teach(logs: object) -> None:
    """Have the emulator's module of CloudWatch Logs match as AWS does."""
    # Where a newer one calls it otherwise, it is not to be thought taught.
    theirs: Callable[[str], Matches] = getattr(logs, _THEIRS)
    setattr(logs, _THEIRS, lambda pattern: matcher(pattern or "", theirs))


_THEIRS = "_compile_filter_pattern"
