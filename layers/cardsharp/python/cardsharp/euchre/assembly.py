"""The service that the environment describes."""

from collections.abc import Mapping

from cardsharp.cloud.adapters import Stores
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.telemetry import logger, meter
from cardsharp.euchre.routes import API
from cardsharp.euchre.service import EuchreService, Journal
from cardsharp.euchre.store import Deals
from cardsharp.euchre.strategies import build
from cardsharp.game import Part
from cardsharp.web.service import Service

STORES: Stores[Deals] = Stores(
    "EUCHRE_STORE",
    Part("cardsharp.euchre.store:sqlite_deals"),
    Part("cardsharp.euchre.store:dynamo_deals"),
)
STRATEGY = "EUCHRE_STRATEGY"
DEFAULT_STRATEGY = "pimc"


def build_service(environment: Mapping[str, str]) -> EuchreService:
    """The service of EUCHRE_STORE and EUCHRE_STRATEGY; raises `ConfigError` if either is none."""
    clock = SystemClock()
    strategy = build(environment.get(STRATEGY) or DEFAULT_STRATEGY, clock.monotonic)
    store = STORES.open(environment.get(STORES.variable, ""), clock)
    return EuchreService(store, strategy, clock, Journal(logger, meter))


SERVICE = Service(api=API, store=STORES.variable, assemble=build_service)
