"""The contests that a keep holds: a file at home has one, an arena in the cloud any number."""

from collections.abc import Iterator

from cardsharp.contest.entries import Settings, Stage
from cardsharp.contest.freeze import freeze_of
from cardsharp.contest.records import Records
from cardsharp.contest.roster import CONTESTS, PROGRESS, Progress, all_under, put_of
from cardsharp.errors import ConfigError
from cardsharp.keep.port import Keep, Key, is_done

_ORDER = (Stage.BEGUN, Stage.OPEN, Stage.OVER)


class ContestsKept:
    """The contests that a keep holds."""

    def __init__(self, keep: Keep) -> None:
        self.documents = keep

    def found(self, settings: Settings) -> Records:
        """A new contest; raises `ConfigError` where one of that name is."""
        put = put_of(Key(CONTESTS, settings.name), PROGRESS, Progress(settings), 0)
        if not is_done(self.documents, put):
            raise ConfigError(f"There is a contest {settings.name} already.")
        return self.named(settings.name)

    def named(self, name: str) -> Records:
        """One of them; raises `ConfigError` where there is none of that name."""
        return Records(self.documents, name)

    def names(self) -> list[str]:
        """Their names: first those under way or frozen, then those to come, then those over."""

        def order(one: Progress) -> int:
            is_frozen = one.stage is Stage.OVER and freeze_of(self.named(one.settings.name))
            return _ORDER.index(Stage.BEGUN if is_frozen else one.stage)

        return [one.settings.name for one in sorted(self._progress(), key=order)]

    def under_way(self) -> Iterator[Records]:
        """Yield those that practise, or have begun and are not over."""
        for one in self._progress():
            if one.stage is Stage.BEGUN or one.practice is not None:
                yield self.named(one.settings.name)

    def _progress(self) -> list[Progress]:
        found = all_under(self.documents, CONTESTS)
        return [PROGRESS.validate_python(document.body) for document in found]
