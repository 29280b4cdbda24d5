"""What an operator is shown, and the same as a JSON document."""

from datetime import datetime
from typing import Annotated

from pydantic import AliasGenerator, BaseModel, ConfigDict, PlainSerializer
from pydantic.alias_generators import to_camel

Moment = Annotated[datetime, PlainSerializer(datetime.isoformat, when_used="unless-none")]


class OperatorView(BaseModel):
    """Figures by their names, which JSON writes together: `last_poll` as `lastPoll`."""

    model_config = ConfigDict(
        frozen=True, alias_generator=AliasGenerator(serialization_alias=to_camel)
    )

    def document(self) -> dict[str, object]:
        """The same as a JSON document."""
        return self.model_dump(mode="json", by_alias=True)
