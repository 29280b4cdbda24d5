"""The resources of the templates, so that no second description of tables and queues exists."""

import uuid
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml

from cardsharp.errors import ConfigError
from cardsharp.play.catalog import all_games
from cardsharp_tools.local_cloud.nested_stacks import flatten_template
from cardsharp_tools.project_files import PROJECT_ROOT

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


TEMPLATE = PROJECT_ROOT / "template.yaml"  # the bot and its monitoring

STACKS_DIR = TEMPLATE.with_name("stacks")
ARENA_TEMPLATE = STACKS_DIR / "arena.yaml"  # the competition's arena with its director
GAME_TEMPLATE = STACKS_DIR / "game.yaml"  # the HTTP service of one game
PAGES_TEMPLATE = STACKS_DIR / "pages.yaml"  # the match log of a bot as web pages
ROOT_TEMPLATES = (TEMPLATE, ARENA_TEMPLATE, GAME_TEMPLATE, PAGES_TEMPLATE)  # each is a stack
MONITORING_TEMPLATE = STACKS_DIR / "monitoring.yaml"  # what the bot's template nests to watch it

_CREATE_TABLE_PROPERTIES = (
    "AttributeDefinitions",
    "BillingMode",
    "GlobalSecondaryIndexes",
    "KeySchema",
)
"""The properties that mean the same in a CreateTable request."""


class _TemplateLoader(yaml.CSafeLoader):
    """YAML loader that reads the short forms of CloudFormation functions as long forms."""


def _construct_function(loader: yaml.Loader, suffix: str, node: yaml.Node) -> dict[str, object]:
    """Return the long form of a function: `!GetAtt A.B` becomes {"Fn::GetAtt": "A.B"}.

    `!Ref A` becomes {"Ref": "A"}.
    """
    name = suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        return {name: loader.construct_scalar(node)}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    return {name: loader.construct_mapping(cast("yaml.MappingNode", node), deep=True)}


_TemplateLoader.add_multi_constructor("!", _construct_function)


def dedicated_stack_game_names() -> tuple[str, ...]:
    """Return the names of all games with an HTTP service, and so a stack, of their own.

    One that the house makes of a game's rules is deployed by the parameter `Game`.
    """
    services = ((game.name, game.http_service) for game in all_games())
    return tuple(name for name, service in services if service is not None and not service.args)


def template_paths() -> tuple[Path, ...]:
    """Return the paths of all templates, roots and nested ones."""
    return (TEMPLATE, *sorted(STACKS_DIR.glob("*.yaml")))


def load_template(path: Path) -> dict[str, Any]:
    """Return a single template with functions in long form; raise `ConfigError` if invalid."""
    try:
        return deepcopy(parse_template_cached(path.read_text("utf-8")))
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigError(f"{path} is not a CloudFormation template: {error}") from error


def parse_template(text: str) -> dict[str, Any]:
    """Return a template's text as a document with functions in long form, not validated."""
    template: dict[str, Any] = yaml.load(text, _TemplateLoader)  # noqa: S506 - a safe one
    return template


@cache
def parse_template_cached(text: str) -> dict[str, Any]:
    """Return a template's text as a cached document, which must not be changed."""
    template = parse_template(text)
    for resource in template["Resources"].values():
        resource["Type"].partition("::")
    return template


OTHER_GAME = "game"  # stands for every game that has no service of its own
ROOT_STACKS = (
    (ARENA_TEMPLATE, ""),
    (PAGES_TEMPLATE, ""),
    (GAME_TEMPLATE, OTHER_GAME),
    (GAME_TEMPLATE, "blef"),
    (GAME_TEMPLATE, "euchre"),
    (TEMPLATE, ""),
)
"""All that our templates can deploy, as templates and the games that they are deployed for."""


@cache
def all_template_resources() -> Mapping[str, dict[str, Any]]:
    """Return all resources that our templates can deploy, also nested ones."""
    return {
        name: resource
        for root, game in ROOT_STACKS
        for name, resource in flatten_template(root, load_template, game)["Resources"].items()
    }


def service_resource_prefix(game: str) -> str:
    """The prefix of the resources of a game's service: Blef, but Arena for Dead Man's Draw."""
    return "Arena" if game == "deadmansdraw" else game.capitalize()


def create_table_request(properties: Mapping[str, object]) -> dict[str, object]:
    """Return the CreateTable request for a table's properties, without the name."""
    return {
        name: _resolve_without_conditions(properties[name])
        for name in _CREATE_TABLE_PROPERTIES
        if name in properties
    }


def _resolve_without_conditions(value: object) -> object:
    """Return the value of a property if no condition holds."""
    if isinstance(value, list):
        return [_resolve_without_conditions(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "Fn::If" in value:
        return _resolve_without_conditions(value["Fn::If"][2])
    resolved = {name: _resolve_without_conditions(item) for name, item in value.items()}
    return {name: item for name, item in resolved.items() if item != {"Ref": "AWS::NoValue"}}


def create_table(client: "DynamoDBClient", resource: str) -> str:
    """Create the table of a template's resource, e.g. "blefTable", and return its name."""
    name = f"{resource}-{uuid.uuid4()}"
    request = create_table_request(all_template_resources()[resource]["Properties"])
    client.create_table(TableName=name, **request)  # type: ignore[arg-type]
    return name
