"""The template as CloudFormation gets it: SAM's transform, run on this machine.

It is what `sam deploy` has AWS do. Settings that no emulator applies (recovery, encryption,
reserved concurrency, roles) are asserted on the result.
"""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from boto3.session import Session
from samtranslator.metrics.metrics import DummyMetricsPublisher, Metrics  # type: ignore[import-untyped]
from samtranslator.model.exceptions import InvalidDocumentException  # type: ignore[import-untyped]
from samtranslator.parser.parser import Parser  # type: ignore[import-untyped]
from samtranslator.translator.translator import Translator  # type: ignore[import-untyped]

from cardsharp.errors import ConfigError
from cardsharp_tools.build.sam_build import CODE_PROPERTIES
from cardsharp_tools.local_cloud.nested_stacks import flatten_template
from cardsharp_tools.local_cloud.template_files import (
    GAME_TEMPLATE,
    OTHER_GAME,
    TEMPLATE,
    load_template,
)

Template = dict[str, Any]

_REGION = "eu-central-1"


def transform(template: Template) -> Template:
    """Return the CloudFormation template that SAM makes of a template, leaving that unchanged.

    Code that is still a folder is given as a place in a bucket, which is all CloudFormation takes.
    Raises `ConfigError` if SAM refuses the template.
    """
    source = deepcopy(template)
    for name, resource in source["Resources"].items():
        key = CODE_PROPERTIES.get(resource["Type"])
        if key is not None and not str(resource["Properties"].get(key)).startswith("s3://"):
            resource["Properties"][key] = f"s3://not-uploaded/{name}.zip"
    # It looks up nothing but the region's partition; our policies name none that AWS manages.
    session = Session("none", "none", region_name=_REGION)
    # It complains at its end about figures that it could not publish; it may, to nobody.
    metrics = Metrics("cardsharp", DummyMetricsPublisher())
    translator = Translator({}, Parser(), boto_session=session, metrics=metrics)
    try:
        result: Template = translator.translate(source, {})
    except InvalidDocumentException as error:
        causes = "; ".join(cause.message for cause in error.causes)
        raise ConfigError(f"SAM refuses the template: {causes}") from error
    finally:
        metrics.publish()
    return result


@cache
def transform_file(path: Path = TEMPLATE) -> Template:
    """Return the transformed template of a file. It is cached, so do not change it."""
    return transform(load_template(path))


@cache
def transform_with_nested(path: Path, game: str = "") -> Template:
    """Return the transformed template of a file, merged with all its nested templates."""
    default_game = OTHER_GAME if path == GAME_TEMPLATE else ""
    return flatten_template(path, transform_file, game or default_game)
