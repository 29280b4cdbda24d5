"""The service that the environment describes."""

from collections.abc import Mapping

from cardsharp.blef.routes import API
from cardsharp.blef.service import Blef
from cardsharp.blef.store import GameStore
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.stores import Stores
from cardsharp.game import Part
from cardsharp.web.service import Service

STORES: Stores[GameStore] = Stores(
    "BLEF_STORE",
    Part("cardsharp.blef.sqlite:SqliteGames"),
    Part("cardsharp.blef.dynamodb:DynamoGames"),
)


def build_service(environment: Mapping[str, str]) -> Blef:
    """The service over the store that BLEF_STORE names.

    Raises:
        ConfigError: there is no such store.
    """
    clock = SystemClock()
    return Blef(STORES.open(environment.get(STORES.variable, ""), clock), clock)


SERVICE = Service(api=API, store=STORES.variable, assemble=build_service)
