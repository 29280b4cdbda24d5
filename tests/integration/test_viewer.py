"""The viewer's function on a table: what it shows to whom, and that its role lets it ask so."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from support import iam_policies
from support.aws_template import properties, statements
from support.deployed_viewer import (
    NOTE,
    SECRET,
    TTL,
    VIEWER_PASSWORD,
    DeployedViewer,
    deployed_viewer,
)
from support.stored_matches import sample_match

from cardsharp.server.access_gate import INTENT_ATTRIBUTE, PROJECTED_ATTRIBUTES
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.build.template_rules.expressions import as_list
from cardsharp_tools.local_cloud.emulator import Emulator


@pytest.fixture(params=["private", "public"], scope="module")
def site(emulator: Emulator, request: pytest.FixtureRequest) -> Iterator[DeployedViewer]:
    public = request.param == "public"
    with deployed_viewer(emulator, public=public) as found:
        _, moves = sample_match("deadmansdraw")
        found.end(found.play("over", moves[:20]))
        found.play("live", moves[:9])
        assert public or found.request("/matches", f"password={VIEWER_PASSWORD}").status == 303
        yield found


PATHS = ("/matches", "/matches?day=2026-01-01", "/matches?status=running", "/matches/over")
PATHS += ("/matches/live", "/matches/live/steps", "/matches/over/steps", "/matches/over/analysis")


# --- rights: what a request asks for, held against the conditions of the role --------------------


def rights() -> list[dict[str, Any]]:
    """What the role of the pages allows, with the policy that is attached to it."""
    attached = properties("ViewerPolicy")
    assert attached["Roles"] == [{"Ref": "viewerRole"}]
    return [*statements("viewerRole"), *attached["PolicyDocument"]["Statement"]]


def condition(*, public: bool) -> dict[str, Any]:
    """The conditions on reading the table, as CloudFormation fills them in."""
    (found,) = [one["Condition"] for one in rights() if "Condition" in one]
    told: dict[str, Any] = json.loads(json.dumps(found))
    names = told["ForAllValues:StringEquals"]["dynamodb:Attributes"]
    assert names.pop()["Fn::If"][:2] == ["PublicWeb", {"Ref": "AWS::NoValue"}]
    names += [] if public else [INTENT_ATTRIBUTE]
    return told


def context_of(name: str, params: dict[str, Any]) -> dict[str, str | list[str]]:
    """What DynamoDB tells IAM of a request (IAM's keys for DynamoDB): keys, attributes, Select."""
    tables = params.get("RequestItems", {"": params}).values()
    keys, attributes = set(), set()
    for one in tables:
        values = one.get("ExpressionAttributeValues", {})
        for key in [one["Key"]] if "Key" in one else one.get("Keys", [{"pk": values.get(":pk")}]):
            keys.add(key["pk"]["S"])
            attributes |= key.keys() if name != "Query" else set()
        for part in ("ProjectionExpression", "KeyConditionExpression", "FilterExpression"):
            words = re.findall(r"(?<![:\w])[a-z]\w+(?!\w*\()", one.get(part, ""))
            attributes |= set(words) - {"begins_with", "attribute_exists", "and"}
        if "ProjectionExpression" not in one:
            return {"dynamodb:LeadingKeys": sorted(keys), "dynamodb:Select": "ALL_ATTRIBUTES"}
    found = {"dynamodb:LeadingKeys": sorted(keys), "dynamodb:Attributes": sorted(attributes)}
    return found | ({"dynamodb:Select": params["Select"]} if "Select" in params else {})


def allowed(name: str, params: dict[str, Any], rules: dict[str, Any]) -> bool:
    """Whether the role of the viewer lets it send a request."""
    if "IndexName" in params:
        indexes = ("by-day", "by-status")
        return name == "Query" and params["IndexName"] in indexes and "Select" not in params
    statement = {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": rules}
    told = context_of(name, params)
    return iam_policies.is_allowed(
        [{"Statement": [statement]}], f"dynamodb:{name}", condition_keys=told
    )


def test_s13_the_viewer_may_use_what_it_uses_and_change_nothing(site: DeployedViewer) -> None:
    """Every request is one that its role allows; what is secret beside a match is on no page."""
    used, rules = set(), condition(public=not site.cookies)
    for path in PATHS:
        text = site.text(path)
        assert site.aws_requests
        for name, params in site.aws_requests:
            assert allowed(name, params, rules), (name, params)
            used.add(f"dynamodb:{name}")
        for secret in (SECRET, NOTE, "a worker"):  # who holds the lease
            assert secret not in text
    may = {action for one in rights() for action in as_list(one["Action"]) if "dynamodb" in action}
    assert used == may == {f"dynamodb:{one}" for one in ("BatchGetItem", "GetItem", "Query")}


def test_s13_requests_for_more_are_refused_by_the_conditions() -> None:
    """So that the tests above can fail: whole items, the vault, the switches, notes."""

    def may(pk: str, *attributes: str, public: bool = False) -> bool:
        asked = {"ProjectionExpression": ", ".join(attributes)} if attributes else {}
        key = {"pk": {"S": pk}, "sk": {"S": "x"}}
        return allowed("GetItem", {"Key": key, **asked}, condition(public=public))

    assert may("match#m", *PROJECTED_ATTRIBUTES)
    assert not may("match#m"), "without naming attributes it asks for all"
    for other in ("vault#m", "control", "poller"):
        assert not may(other, *PROJECTED_ATTRIBUTES)
    for hidden in ("body_json", "lease_owner"):
        assert not may("match#m", "pk", hidden)
    assert may("match#m", "pk", INTENT_ATTRIBUTE)
    assert not may("match#m", "pk", INTENT_ATTRIBUTE, public=True), (
        "nobody's thoughts on public pages"
    )


def test_s13_the_viewer_reads_one_table_one_parameter_and_writes_its_own_log() -> None:
    found = {}
    for statement in rights():
        for action in as_list(statement["Action"]):
            found.setdefault(action.partition(":")[0], []).append(json.dumps(statement["Resource"]))
    assert found.keys() == {"dynamodb", "ssm", "logs", "xray"}
    assert all("Matches" in one for one in found["dynamodb"])
    (parameter,) = found["ssm"]
    text, told = json.loads(parameter)["Fn::Sub"]
    assert text.endswith(":parameter${Secret}")
    wanted = {"Fn::If": ["PublicWeb", "", {"Fn::Sub": "/${AWS::StackName}/viewer"}]}
    assert told == {"Secret": wanted}
    assert set(found["logs"]) == {'{"Fn::GetAtt": "viewerLogs.Arn"}'}


# --- what is shown -------------------------------------------------------------------------------


def test_public_pages_say_nothing_of_what_we_think_and_private_ones_all(
    site: DeployedViewer,
) -> None:
    for path in ("/matches/live/steps", "/matches/over/steps"):
        steps = json.loads(site.text(path))["steps"]
        assert any(step["ours"] for step in steps) is bool(site.cookies)
        assert any(step["parts"].get("thought") for step in steps) is bool(site.cookies)
    assert bool(json.loads(site.text("/matches/over/analysis"))) is bool(site.cookies)


def test_a_stranger_is_refused_and_asks_the_table_nothing(emulator: Emulator) -> None:
    with deployed_viewer(emulator, public=False) as site:
        for path in PATHS:
            assert site.request(path).status == 403
            assert site.aws_requests == []
        assert site.request("/matches", "password=wrong").status == 403
        event = json.loads((REPOSITORY_ROOT / "events" / "viewer_list.json").read_text())
        assert site.invoke(event).status == 403, "its pass is none"


def test_strangers_cannot_have_ten_thousand_matches_read(site: DeployedViewer) -> None:
    """Each is a unit of the table; who knows the password may."""
    site.text("/matches?limit=9999")
    (read,) = [params for name, params in site.aws_requests if name == "BatchGetItem"]
    assert "ProjectionExpression" in read["RequestItems"][site.table]
    for index in range(60):
        site.log.mark_queued(f"more-{index}", TTL)
    shown = site.text("/matches?limit=9999").count('href="/matches/more-')
    assert shown == (60 if site.cookies else 50)
    assert "Older matches" not in site.text("/matches?limit=9999")


def test_what_cannot_change_any_more_is_kept_by_browsers(site: DeployedViewer) -> None:
    """And what runs is not: its next step is asked for a second later."""
    who = "private" if site.cookies else "public"
    for path in ("/matches/over", "/matches/over/steps"):
        over = dict(site.request(path).headers)
        assert over["cache-control"] == f"{who}, max-age=86400, immutable"
    for path in ("/matches", "/matches/live", "/matches/live/steps"):
        assert dict(site.request(path).headers)["cache-control"] == "no-cache"
    (style,) = re.findall(r'href="(/page/\w+/look.css)"', site.text("/matches"))
    kept = dict(site.request(style).headers)
    assert kept["cache-control"] == "public, max-age=31536000, immutable"


def test_a_step_is_shown_at_once_and_a_lease_is_nothing_new(site: DeployedViewer) -> None:
    """Asked for something new, the function answers at once: a wait would be paid."""
    _, moves = sample_match("deadmansdraw")
    lease = site.play("m", moves[:4])

    def total() -> int:
        return json.loads(site.text("/matches/m/steps?from=4&wait=1"))["total"]

    assert total() == 4
    site.log.renew_lease(lease, TTL)
    assert total() == 4
    # It has the moves, and nothing was played.
    whole = [one for _, one in site.aws_requests if "Limit" not in one]
    assert not any("begins_with" in one.get("KeyConditionExpression", "") for one in whole)
    site.play("m", [replace(moves[4], intent=None)], lease)
    assert total() == 5
    site.log.retract_moves(lease, 3)
    assert total() == 3, "what the arena has lost is gone"
