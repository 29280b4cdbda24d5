"""Settings: parsed once, all faults at once, no secret in any text."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import TypeAdapter, ValidationError

from cardsharp.access import Address
from cardsharp.cloud.settings import Window, Windows
from cardsharp.cloud.timing import limits_of
from cardsharp.deadmansdraw.settings import Settings
from cardsharp.errors import ConfigError

CANARY = "canary-7f3a"
GOOD = {
    "CARDSHARP_ARENA_URL": "https://arena.example/",
    "CARDSHARP_USER": "6364",
    "CARDSHARP_PASSWORD": CANARY,
}


def faults(changes: dict[str, str], without: str = "") -> list[str]:
    """Return the fault sentences of the good settings with changes."""
    environment = {key: value for key, value in {**GOOD, **changes}.items() if key != without}
    with pytest.raises(ConfigError) as caught:
        Settings.load(environment)
    assert CANARY not in str(caught.value)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(("connect", "most"), [("10", 1.5), ("1", 1)])
def test_half_of_an_actions_limit_is_kept_for_its_answer(connect: str, most: float) -> None:
    """Connecting may not take it all: an action that is sent late may arrive too late."""
    given = {"CARDSHARP_CONNECT_SECONDS": connect, "CARDSHARP_ACT_SECONDS": "3"}
    limits = limits_of(Settings.load({**GOOD, **given}))
    assert limits.connect == timedelta(seconds=most)
    assert limits.act == timedelta(seconds=3)


def test_all_faults_are_told_at_once_in_a_sentence_each() -> None:
    told = faults(
        {
            "CARDSHARP_ARENA_URL": "http://arena.example",
            "CARDSHARP_LEASE_SECONDS": "soon",
            "CARDSHARP_STORE": "mongodb:x",
            "CARDSHARP_TAG": "a",
        }
    )
    url, lease, *others = told
    assert url.startswith(
        "CARDSHARP_ARENA_URL cannot be used; it must be the arena's address, https"
    )
    assert lease.endswith("number of seconds: how long a lease is valid unless renewed.")
    assert others == [
        "CARDSHARP_STORE cannot be used; it must be sqlite:FILE or dynamodb:TABLE.",
        "CARDSHARP_TAG is no setting; did you mean CARDSHARP_TAGS?",
    ]


@pytest.mark.parametrize(
    ("url", "private"),
    [
        ("http://192.168.1.7:8080", True),
        ("http://[fd00::7]:8080", True),
        ("http://arena:8080", True),
        ("http://arena.lan", True),
        ("http://arena.example", False),
        ("http://8.8.8.8", False),
        ("http://192.168.1.7.evil.example", False),
    ],
)
def test_http_in_a_private_network_must_be_asked_for(url: str, private: bool) -> None:
    """And leads nowhere else even then."""
    given = {"CARDSHARP_ARENA_URL": url}
    assert faults(given)[0].startswith("CARDSHARP_ARENA_URL cannot be used")
    insecure = {**given, "CARDSHARP_ARENA_INSECURE": "true"}
    if private:
        assert Settings.load({**GOOD, **insecure}).address == Address(url, None, insecure=True)
    else:
        assert faults(insecure)[0].startswith("CARDSHARP_ARENA_URL cannot be used")


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e400", "3s", "1e300"])
def test_a_duration_is_a_positive_number_of_seconds(value: str) -> None:
    assert len(faults({"CARDSHARP_PACE_SECONDS": value})) == 1


def test_credentials_are_a_pair_or_a_secret_and_the_password_is_in_no_text() -> None:
    """Nor is a misspelt one."""
    assert faults({}, without="CARDSHARP_PASSWORD")[0].startswith("The arena's credentials are")
    assert faults({"CARDSHARP_SECRET_ID": "s"})[0].startswith("CARDSHARP_SECRET_ID excludes")
    told = faults({"CARDSHARP_PASSWROD": CANARY}, without="CARDSHARP_PASSWORD")
    assert told[0] == "CARDSHARP_PASSWROD is no setting; did you mean CARDSHARP_PASSWORD?"
    settings = Settings.load(GOOD)
    assert CANARY not in f"{settings!r} {settings} {settings.model_dump_json()}"


READ: TypeAdapter[tuple[Window, ...]] = TypeAdapter(Windows)
WRONG = [
    "Sat",
    "Sat 9:00-18:00",
    "Sat 18:00-09:00",
    "Sat 09:00-09:00",
    "Sat 09:00-24:01",
    "Sat 09:60-18:00",
    "Sam 09:00-18:00",
    "2026-02-30 09:00-18:00",
    "Sat 09:00-18:00; Sun 09:00-18:00",
]


def is_open(windows: str, moment: str) -> bool:
    now = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    return any(window.is_open(now) for window in READ.validate_python(windows))


@pytest.mark.parametrize(
    ("windows", "opens", "closed"),
    [
        ("Sun 09:00-18:00", "2026-11-22 09:00", "2026-11-22 18:00"),
        ("Sun 09:00-18:00", "2026-11-29 17:59:59", "2026-11-23 12:00"),
        ("daily 06:30-07:00", "2026-11-25 06:45", "2026-11-25 06:29"),
        ("2026-12-05 08:00-24:00", "2026-12-05 23:59:59", "2026-12-06 00:00"),
        ("Sat 20:00-24:00, Sun 00:00-02:00", "2026-11-22 01:00", "2026-11-22 03:00"),
    ],
)
def test_a_window_is_open_on_its_days(windows: str, opens: str, closed: str) -> None:
    assert is_open(windows, opens)
    assert not is_open(windows, closed)


def test_no_calendar_is_never_open() -> None:
    assert not is_open("", "2026-11-22 09:00")


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        READ.validate_python(text)
