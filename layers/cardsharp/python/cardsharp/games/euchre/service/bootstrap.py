"""The service that the environment describes."""

from collections.abc import Mapping

from cardsharp.aws.telemetry import logger, metrics_recorder
from cardsharp.core.clock import SystemClock
from cardsharp.games.euchre.service.deal_store import DEAL_STORE_FACTORY
from cardsharp.games.euchre.service.routes import API
from cardsharp.games.euchre.service.service import EuchreService
from cardsharp.games.euchre.strategies import build
from cardsharp.server.api_application import build_application
from cardsharp.server.http_service import HttpService, ServiceApplication

STRATEGY_SETTING = "EUCHRE_STRATEGY"
DEFAULT_STRATEGY = "pimc"


def build_service(environment: Mapping[str, str]) -> EuchreService:
    """Build the Euchre service that EUCHRE_STORE and EUCHRE_STRATEGY name.

    Raises `ConfigError` if either names none.
    """
    clock = SystemClock()
    strategy = build(environment.get(STRATEGY_SETTING) or DEFAULT_STRATEGY, clock.monotonic)
    store = DEAL_STORE_FACTORY.open(environment.get(DEAL_STORE_FACTORY.setting_name, ""), clock)
    return EuchreService(store, strategy, clock, logger, metrics_recorder)


SERVICE = HttpService(
    api=API,
    store_setting=DEAL_STORE_FACTORY.setting_name,
    build=lambda environment: ServiceApplication(
        build_application((API,), build_service(environment))
    ),
)
