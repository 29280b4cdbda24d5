"""Powertools' HTTP resolver, made safe for several invocations at once in one process.

Powertools keeps the event of the present invocation in a class attribute, as Lambda runs one at
a time. At home one process answers many clients, and some of them wait in a long poll.
"""

import copy
import re
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

CONTEXT = "lambda_context"
"""Where a route finds the invocation's context in its request's context."""


class Resolver(APIGatewayHttpResolver):
    """Routes events of an HTTP API; a path parameter is anything between two slashes."""

    def resolve(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        """Return the answer to one event, without a trace of any other."""
        call = copy.copy(self)
        # The copy's own attributes hide those of the class, which all invocations share.
        call.current_event = APIGatewayProxyEventV2(dict(event))
        call.lambda_context = context
        call.context = {CONTEXT: context}
        call.processed_stack_frames = []
        return super(Resolver, call).resolve(event, context)

    def prepare(self) -> None:
        """Build what Powertools would build at a route's first call; two at once spoil it."""
        for route in (*self._static_routes, *self._dynamic_routes):
            # Powertools has no public name for it.
            route._build_middleware_stack(self._router_middlewares, self)  # noqa: SLF001

    @staticmethod
    def _compile_regex(rule: str, base_regex: str = r"{}\Z") -> re.Pattern[str]:
        """Return the pattern of a rule, in which <name> is a parameter."""
        return re.compile(base_regex.format(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", rule)))
