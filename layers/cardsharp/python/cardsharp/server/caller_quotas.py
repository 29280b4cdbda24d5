"""Counts of what a caller does on a day, so that nobody uses up a service alone.

| partition | sort | body |
|---|---|---|
| caller#DIGEST | games | a count: DIGEST is of a day and a caller, so that no address is stored |
"""

import hashlib
from datetime import date, datetime, timedelta

from cardsharp.store.documents import DocumentStore, Increment, Key, try_commit


def count_if_allowed(
    documents: DocumentStore, current_time: datetime, caller: str, max_per_day: int
) -> bool:
    """Count something that a caller does today (UTC); return False at `max_per_day`."""
    key = Key(f"caller#{caller_day_digest(current_time.date(), caller)}", "games")
    return try_commit(documents, Increment(key, 1, current_time + timedelta(days=1), max_per_day))


def caller_day_digest(day: date, caller: str) -> str:
    """Return the digest under which a caller's count of a day is stored."""
    return hashlib.sha256(f"{day} {caller}".encode()).hexdigest()
