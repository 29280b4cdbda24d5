"""The service that the environment describes."""

from collections.abc import Mapping

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.telemetry import logger, meter
from cardsharp.euchre.routes import API
from cardsharp.euchre.service import EuchreService
from cardsharp.euchre.store import DEAL_STORE
from cardsharp.euchre.strategies import build
from cardsharp.web.service import Service

STRATEGY = "EUCHRE_STRATEGY"
DEFAULT_STRATEGY = "pimc"


def build_service(environment: Mapping[str, str]) -> EuchreService:
    """The service of EUCHRE_STORE and EUCHRE_STRATEGY; raises `ConfigError` if either is none."""
    clock = SystemClock()
    strategy = build(environment.get(STRATEGY) or DEFAULT_STRATEGY, clock.monotonic)
    store = DEAL_STORE.open(environment.get(DEAL_STORE.variable, ""), clock)
    return EuchreService(store, strategy, clock, logger, meter)


SERVICE = Service(api=API, store=DEAL_STORE.variable, assemble=build_service)
