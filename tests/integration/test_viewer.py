"""Tests of the viewer's function with a DynamoDB table: its pages and its permissions."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from support import iam_policies
from support.aws_template import resource_properties, role_statements
from support.deployed_viewer import (
    NOTE_TEXT,
    SEAT_SECRET,
    TTL,
    VIEWER_PASSWORD,
    DeployedViewer,
    deployed_viewer,
)
from support.stored_matches import sample_match

from cardsharp.server.pages_service import INTENT_ATTRIBUTES, PROJECTED_ATTRIBUTES
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.build.template_rules.expressions import as_list
from cardsharp_tools.local_cloud.emulator import Emulator


@pytest.fixture(params=["private", "public"], scope="module")
def site(emulator: Emulator, request: pytest.FixtureRequest) -> Iterator[DeployedViewer]:
    public = request.param == "public"
    with deployed_viewer(emulator, public=public) as viewer:
        _, moves = sample_match("deadmansdraw")
        viewer.finish_match(viewer.log_moves("over", moves[:20]))
        viewer.log_moves("live", moves[:9])
        assert public or viewer.request("/matches", f"password={VIEWER_PASSWORD}").status == 303
        yield viewer


PATHS = ("/matches", "/matches?day=2026-01-01", "/matches?status=running", "/matches/over")
PATHS += ("/matches/live", "/matches/live/steps", "/matches/over/steps", "/matches/over/analysis")


# --- rights: what a request asks for, held against the conditions of the role --------------------


def policy_statements() -> list[dict[str, Any]]:
    """Return the statements of the viewer's role and of the policy attached to it."""
    attached = resource_properties("ViewerPolicy")
    assert attached["Roles"] == [{"Ref": "ViewerRole"}]
    return [*role_statements("ViewerRole"), *attached["PolicyDocument"]["Statement"]]


def resolved_condition(*, public: bool) -> dict[str, Any]:
    """Return the conditions on reading the table, as CloudFormation resolves them."""
    (raw_condition,) = [
        statement["Condition"] for statement in policy_statements() if "Condition" in statement
    ]
    resolved_json: dict[str, Any] = json.loads(json.dumps(raw_condition))
    names = resolved_json["ForAllValues:StringEquals"]["dynamodb:Attributes"]
    for _ in INTENT_ATTRIBUTES:
        assert names.pop()["Fn::If"][:2] == ["IsPublic", {"Ref": "AWS::NoValue"}]
    names += [] if public else INTENT_ATTRIBUTES
    return resolved_json


def condition_keys_of(name: str, params: dict[str, Any]) -> dict[str, str | list[str]]:
    """Return the IAM condition keys that DynamoDB sets for a request: keys, attributes, Select."""
    tables = params.get("RequestItems", {"": params}).values()
    keys, attributes = set(), set()
    for table in tables:
        values = table.get("ExpressionAttributeValues", {})
        for key in (
            [table["Key"]] if "Key" in table else table.get("Keys", [{"pk": values.get(":pk")}])
        ):
            keys.add(key["pk"]["S"])
            attributes |= key.keys() if name != "Query" else set()
        for part in ("ProjectionExpression", "KeyConditionExpression", "FilterExpression"):
            words = re.findall(r"(?<![:\w])[a-z]\w+(?!\w*\()", table.get(part, ""))
            attributes |= set(words) - {"begins_with", "attribute_exists", "and"}
        if "ProjectionExpression" not in table:
            return {"dynamodb:LeadingKeys": sorted(keys), "dynamodb:Select": "ALL_ATTRIBUTES"}
    keys_context = {"dynamodb:LeadingKeys": sorted(keys), "dynamodb:Attributes": sorted(attributes)}
    return keys_context | ({"dynamodb:Select": params["Select"]} if "Select" in params else {})


def is_request_allowed(name: str, params: dict[str, Any], rules: dict[str, Any]) -> bool:
    """Return True if the viewer's role lets it send a request."""
    if "IndexName" in params:
        indexes = ("by-day", "by-status")
        return name == "Query" and params["IndexName"] in indexes and "Select" not in params
    statement = {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": rules}
    condition_keys = condition_keys_of(name, params)
    return iam_policies.is_allowed(
        [{"Statement": [statement]}], f"dynamodb:{name}", condition_keys=condition_keys
    )


def test_s13_the_viewers_role_allows_exactly_its_read_operations(site: DeployedViewer) -> None:
    """The role allows every request of the pages, and no page shows a match's secrets."""
    used_actions, read_condition = set(), resolved_condition(public=not site.cookies)
    for path in PATHS:
        text = site.text(path)
        assert site.aws_requests
        for name, params in site.aws_requests:
            assert is_request_allowed(name, params, read_condition), (name, params)
            used_actions.add(f"dynamodb:{name}")
        for secret in (SEAT_SECRET, NOTE_TEXT, "a worker"):  # who holds the lease
            assert secret not in text
    allowed_actions = {
        action
        for statement in policy_statements()
        for action in as_list(statement["Action"])
        if "dynamodb" in action
    }
    assert (
        used_actions
        == allowed_actions
        == {f"dynamodb:{operation}" for operation in ("BatchGetItem", "GetItem", "Query")}
    )


def test_s13_requests_for_more_are_refused_by_the_conditions() -> None:
    """Requests for full items, the vault, settings and notes are refused.

    So the test of the allowed requests can fail.
    """

    def can_read(pk: str, *attributes: str, public: bool = False) -> bool:
        projection = {"ProjectionExpression": ", ".join(attributes)} if attributes else {}
        key = {"pk": {"S": pk}, "sk": {"S": "x"}}
        return is_request_allowed(
            "GetItem", {"Key": key, **projection}, resolved_condition(public=public)
        )

    assert can_read("match#m", *PROJECTED_ATTRIBUTES)
    assert not can_read("match#m"), "without naming attributes it asks for all"
    for partition_key in ("vault#m", "control", "poller"):
        assert not can_read(partition_key, *PROJECTED_ATTRIBUTES)
    for hidden_attribute in ("details", "body_json", "lease_owner", "reason"):
        assert not can_read("match#m", "pk", hidden_attribute)
    for intent_attribute in INTENT_ATTRIBUTES:
        assert can_read("match#m", "pk", intent_attribute)
        assert not can_read("match#m", "pk", intent_attribute, public=True), (
            "nobody's thoughts on public pages"
        )


def test_s13_the_viewers_role_covers_a_single_table_a_single_parameter_and_its_log_group() -> None:
    resources = {}
    for statement in policy_statements():
        for action in as_list(statement["Action"]):
            resources.setdefault(action.partition(":")[0], []).append(
                json.dumps(statement["Resource"])
            )
    assert resources.keys() == {"dynamodb", "ssm", "logs", "xray"}
    assert all("MatchTable" in resource for resource in resources["dynamodb"])
    (parameter,) = resources["ssm"]
    text, substitutions = json.loads(parameter)["Fn::Sub"]
    assert text.endswith(":parameter${Secret}")
    expected = {"Fn::If": ["IsPublic", "", {"Fn::Sub": "/${AWS::StackName}/viewer"}]}
    assert substitutions == {"Secret": expected}
    assert set(resources["logs"]) == {'{"Fn::GetAtt": "ViewerLogs.Arn"}'}


# --- what is shown -------------------------------------------------------------------------------


def test_only_private_pages_show_the_bots_thoughts(
    site: DeployedViewer,
) -> None:
    for path in ("/matches/live/steps", "/matches/over/steps"):
        steps = json.loads(site.text(path))["steps"]
        assert any(step["ours"] for step in steps) is bool(site.cookies)
        assert any(step["parts"].get("thought") for step in steps) is bool(site.cookies)
    assert bool(json.loads(site.text("/matches/over/analysis"))) is bool(site.cookies)


def test_a_rejected_visitor_causes_no_table_request(emulator: Emulator) -> None:
    with deployed_viewer(emulator, public=False) as site:
        for path in PATHS:
            assert site.request(path).status == 403
            assert site.aws_requests == []
        assert site.request("/matches", "password=wrong").status == 403
        event = json.loads((REPOSITORY_ROOT / "events" / "viewer_list.json").read_text())
        assert site.invoke(event).status == 403, "its pass is none"


def test_visitors_without_the_password_cannot_list_many_matches(site: DeployedViewer) -> None:
    """Each match costs a read unit, so only visitors with the password may list many."""
    site.text("/matches?limit=9999")
    (read_request,) = [params for name, params in site.aws_requests if name == "BatchGetItem"]
    assert "ProjectionExpression" in read_request["RequestItems"][site.table_name]
    for index in range(60):
        site.log.mark_queued(f"more-{index}", TTL)
    match_count = site.text("/matches?limit=9999").count('href="/matches/more-')
    assert match_count == (60 if site.cookies else 50)
    assert "Older matches" not in site.text("/matches?limit=9999")


def test_browsers_cache_only_pages_that_cannot_change(site: DeployedViewer) -> None:
    """A running match is not cached, because its next step is requested a second later."""
    visibility = "private" if site.cookies else "public"
    for path in ("/matches/over", "/matches/over/steps"):
        headers = dict(site.request(path).headers)
        assert headers["cache-control"] == f"{visibility}, max-age=86400, immutable"
    for path in ("/matches", "/matches/live", "/matches/live/steps"):
        assert dict(site.request(path).headers)["cache-control"] == "no-cache"
    (style,) = re.findall(r'href="(/page/\w+/look.css)"', site.text("/matches"))
    style_headers = dict(site.request(style).headers)
    assert style_headers["cache-control"] == "public, max-age=31536000, immutable"


def test_a_new_step_is_returned_at_once_and_a_renewed_lease_is_no_change(
    site: DeployedViewer,
) -> None:
    """The function never waits for a change, because waiting time in Lambda is billed."""
    _, moves = sample_match("deadmansdraw")
    lease = site.log_moves("m", moves[:4])

    def read_step_count() -> int:
        return json.loads(site.text("/matches/m/steps?from=4&wait=1"))["total"]

    assert read_step_count() == 4
    site.log.renew_lease(lease, TTL)
    assert read_step_count() == 4
    # It has the moves, and nothing was played.
    full_queries = [params for _, params in site.aws_requests if "Limit" not in params]
    assert not any(
        "begins_with" in params.get("KeyConditionExpression", "") for params in full_queries
    )
    site.log_moves("m", [replace(moves[4], intent=None)], lease)
    assert read_step_count() == 5
    site.log.retract_moves(lease, 3)
    assert read_step_count() == 3, "what the arena has lost is gone"
