"""Sentences for people: numbers, lists and names, alike in a terminal and in a browser."""

from collections.abc import Sequence

YOU = "you"  # the person who reads the sentence, as its subject or object

_NUMBER_WORDS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def number_text(count: int) -> str:
    """Return a number as a word up to twelve, and in digits above; zero is "no".

    >>> number_text(3), number_text(13)
    ('three', '13')
    """
    return _NUMBER_WORDS[count] if 0 <= count < len(_NUMBER_WORDS) else str(count)


def plural_of(noun: str) -> str:
    """Return the plural of a regular noun.

    >>> plural_of("trick"), plural_of("inaccuracy"), plural_of("match"), plural_of("key")
    ('tricks', 'inaccuracies', 'matches', 'keys')
    """
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def count_text(count: int, noun: str) -> str:
    """Return a number in digits with its noun, such as "1 trick" and "2 tricks"."""
    return f"{count} {noun if abs(count) == 1 else plural_of(noun)}"


def count_in_words(count: int, noun: str) -> str:
    """Return a number as a word with its noun, such as "one trick" and "no tricks"."""
    return f"{number_text(count)} {noun if count == 1 else plural_of(noun)}"


def list_text(items: Sequence[str], conjunction: str = "and") -> str:
    """Return items as an enumeration.

    >>> list_text(["Ann", "Bob", "Cid"])
    'Ann, Bob and Cid'
    """
    if len(items) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(items)
    return f"{', '.join(items[:-1])} {conjunction} {items[-1]}"


def capitalise(text: str) -> str:
    """Return a text with a capital as its first letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def to_sentence(text: str) -> str:
    """Return a text as a sentence: it begins with a capital and ends with a full stop.

    A text that ends with a question mark or an exclamation mark keeps it.
    """
    stripped = " ".join(text.split())
    return capitalise(stripped if stripped.endswith((".", "!", "?")) else f"{stripped}.")
