"""Settings: parsed once, all faults at once, no secret in any text."""

from datetime import timedelta
from pathlib import Path

import pytest

from cardsharp.access import Address
from cardsharp.cloud.adapters import build_log, build_queue
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.timing import Timing, limits_of, timing_of
from cardsharp.deadmansdraw.settings import Settings
from cardsharp.errors import ConfigError, StoreError

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


def test_three_variables_are_enough_and_the_rest_has_sensible_defaults() -> None:
    settings = Settings.load({**GOOD, "PATH": "/bin", "AWS_REGION": "x"})
    assert settings.arena_url == "https://arena.example"
    assert settings.tags == ()
    assert settings.store == "sqlite:.cardsharp/matches.db"
    assert settings.queue == "memory:matches"
    assert settings.lease == timedelta(seconds=3)
    assert settings.renew == timedelta(seconds=1)
    assert settings.pace == timedelta(seconds=3)
    assert settings.watch == timedelta(milliseconds=500)
    assert settings.read > timedelta(seconds=30), "above the arena's long poll"


def test_every_variable_is_read() -> None:
    settings = Settings.load(
        {
            **GOOD,
            "CARDSHARP_ARENA_AUTH": "digest",
            "CARDSHARP_TAGS": " finals , GAMETAG,,",
            "CARDSHARP_STRATEGY": "steady",
            "CARDSHARP_STORE": "dynamodb:matches",
            "CARDSHARP_QUEUE": "https://sqs.eu-central-1.amazonaws.com/1/q",
            "CARDSHARP_LEASE_SECONDS": "4",
            "CARDSHARP_RENEW_SECONDS": "0.25",
            "CARDSHARP_MAX_ANSWER_BYTES": "1000",
        }
    )
    assert settings.arena_auth == "digest"
    assert settings.tags == ("finals", "GAMETAG")
    assert settings.strategy == "steady"
    assert settings.lease == timedelta(seconds=4)
    assert settings.renew == timedelta(milliseconds=250)
    assert settings.max_answer_bytes == 1000


@pytest.mark.parametrize(("connect", "most"), [("10", 1.5), ("1", 1)])
def test_half_of_an_actions_limit_is_kept_for_its_answer(connect: str, most: float) -> None:
    """Connecting may not take it all: an action that is sent late may arrive too late."""
    given = {"CARDSHARP_CONNECT_SECONDS": connect, "CARDSHARP_ACT_SECONDS": "3"}
    limits = limits_of(Settings.load({**GOOD, **given}))
    assert limits.connect == timedelta(seconds=most)
    assert limits.act == timedelta(seconds=3)


def test_an_empty_variable_counts_as_not_set() -> None:
    settings = Settings.load({**GOOD, "CARDSHARP_STRATEGY": "", "CARDSHARP_SECRET_ID": " "})
    assert settings.strategy is None


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
    assert url == (
        "CARDSHARP_ARENA_URL cannot be used; it must be the arena's address, https (http on this "
        "machine only, and in a private network with CARDSHARP_ARENA_INSECURE=true), without user, "
        "query or fragment, e.g. https://arena.example."
    )
    assert lease == (
        "CARDSHARP_LEASE_SECONDS cannot be used; it must be a positive number of seconds: how "
        "long a lease is valid unless renewed."
    )
    assert others == [
        "CARDSHARP_STORE cannot be used; it must be sqlite:FILE or dynamodb:TABLE.",
        "CARDSHARP_TAG is no setting; did you mean CARDSHARP_TAGS?",
    ]


def test_a_missing_address_is_asked_for() -> None:
    told = faults({}, without="CARDSHARP_ARENA_URL")
    assert len(told) == 1
    assert told[0].startswith("CARDSHARP_ARENA_URL is missing; set it to the arena's address")


@pytest.mark.parametrize(
    "url",
    [
        "http://arena.example",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "ftp://127.0.0.1",
        f"https://me:{CANARY}@arena.example",
        f"https://arena.example/?token={CANARY}",
        "https://",
        "arena.example",
        "http://[::1",
    ],
)
def test_only_a_plain_https_address_or_this_machine_is_an_arena(url: str) -> None:
    assert faults({"CARDSHARP_ARENA_URL": url})[0].startswith("CARDSHARP_ARENA_URL cannot be used")


@pytest.mark.parametrize(
    "url", ["http://localhost:8080", "http://127.0.0.9", "http://[::1]:1", "https://a.example/x"]
)
def test_http_is_allowed_on_this_machine_only(url: str) -> None:
    assert Settings.load({**GOOD, "CARDSHARP_ARENA_URL": url}).arena_url == url


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


def test_a_lease_is_renewed_at_least_twice_before_it_runs_out() -> None:
    (told,) = faults({"CARDSHARP_RENEW_SECONDS": "1.6"})
    assert told == (
        "CARDSHARP_RENEW_SECONDS cannot be used; it must be a positive number of seconds, "
        "at most half of CARDSHARP_LEASE_SECONDS."
    )


def test_credentials_are_a_pair_or_a_secret_and_never_both() -> None:
    assert faults({}, without="CARDSHARP_PASSWORD")[0].startswith("The arena's credentials are")
    assert faults({"CARDSHARP_SECRET_ID": "s"})[0].startswith("CARDSHARP_SECRET_ID excludes")


def test_a_misspelt_password_is_not_shown() -> None:
    told = faults({"CARDSHARP_PASSWROD": CANARY}, without="CARDSHARP_PASSWORD")
    assert told[0] == "CARDSHARP_PASSWROD is no setting; did you mean CARDSHARP_PASSWORD?"


def test_the_name_of_a_field_is_no_variable() -> None:
    assert faults({"CARDSHARP_LEASE": "3"}) == [
        "CARDSHARP_LEASE is no setting; did you mean CARDSHARP_LEASE_SECONDS?"
    ]


def test_a_variable_far_from_any_setting_is_to_be_removed() -> None:
    assert faults({"CARDSHARP_QQQQ": "1"}) == ["CARDSHARP_QQQQ is no setting; remove it."]


def test_the_password_is_in_no_text_of_the_settings() -> None:
    settings = Settings.load(GOOD)
    assert CANARY not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_the_names_of_store_and_queue_choose_the_adapters(tmp_path: Path) -> None:
    log = build_log(f"sqlite:{tmp_path}/matches.db", SystemClock())
    assert isinstance(log, SqliteLog)
    log.close()
    assert isinstance(build_queue("memory:wiring", SystemClock()), MemoryQueue)


@pytest.mark.parametrize("name", ["", "sqlite:", "redis:x", "sqlite"])
def test_another_store_is_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match="CARDSHARP_STORE must be"):
        build_log(name, SystemClock())


@pytest.mark.parametrize("name", ["", "memory:", "ftp://x"])
def test_another_queue_is_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match="CARDSHARP_QUEUE must be"):
        build_queue(name, SystemClock())


def test_a_store_that_is_no_database_is_named_in_the_error(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("this is not a database, and it is long enough to be looked at" * 30)
    with pytest.raises(StoreError, match=r"notes\.txt cannot be used: file is not a database"):
        build_log(f"sqlite:{path}", SystemClock())


def test_what_another_game_is_told_is_no_mistake_where_it_is_known() -> None:
    environment = {**GOOD, "CARDSHARP_READ_SECONDS": "35"}
    assert Workplace.load(environment, Settings.names).read == timedelta(seconds=35)
    with pytest.raises(ConfigError, match="CARDSHARP_ARENA_URL is no setting"):
        Workplace.load(environment)


def test_a_duration_that_nobody_sets_is_that_of_the_timing() -> None:
    assert timing_of(Workplace()) == Timing()
