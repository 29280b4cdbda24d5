"""Submissions: code that teams hand in and the organiser plays; versions are checked and stored.

A submission is a file, a folder or a zip archive. Its file `run` says how it is started: it
contains a command in one line, such as `python3 bot.py` or `./bot`. Without that file it is
started as `bot.py`, a strategy file, or as `bot.js`, a program for node. A file that is submitted
alone may have another name.
"""

import io
import shlex
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fcntl import LOCK_EX, flock
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cardsharp.core.private_files import DIRECTORY_MODE, restrict_to_owner
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.play.game import Game
from cardsharp_tools.executors import external_program, subprocess_strategy
from cardsharp_tools.executors.command_text import split_command
from cardsharp_tools.executors.sandbox import sandbox_command
from cardsharp_tools.executors.sandbox_supervisor import escape_control_chars
from cardsharp_tools.executors.strategy_process import register_strategy_file, worker_command
from cardsharp_tools.executors.strategy_reference import StrategyReference, Submission

VIOLATIONS_FILE = "tried"  # beside the versions: attempts that their sandboxes refused

LARGEST, MAX_FILES, MAX_VERSIONS = 2_000_000, 200, 100
"""Maximum bytes and files of a version after unpacking, and maximum versions of a team."""

_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, LookupError, OverflowError),
)
"""Exceptions that reading a zip archive may raise."""

DEFAULT_ISOLATION = Submission()  # in a sandbox with the kernel's limits

Contents = dict[str, bytes]  # files by their names in a folder


def read_submission(path: Path) -> Contents:
    """Return the contents of a file, folder or archive; raise `ConfigError` if not allowed."""
    if not path.is_dir():
        try:
            with path.open("rb") as file:
                return read_upload_contents(path.name, file.read(LARGEST + 1))
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    files = [entry for entry in sorted(path.rglob("*")) if not _is_hidden(entry.relative_to(path))]
    for entry in files:
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            raise ConfigError(
                f"{str(entry)!r} is not a regular file. Remove it; links are not allowed."
            )
    files_by_name = {str(entry.relative_to(path)): entry for entry in files if entry.is_file()}
    _check_size(sum(entry.stat().st_size for entry in files_by_name.values()), len(files_by_name))
    return {name: entry.read_bytes() for name, entry in files_by_name.items()}


def read_upload_contents(name: str, raw: bytes) -> Contents:
    """Return the contents of an uploaded file or zip archive; raise as `read_submission` does."""
    _check_size(len(raw), 1)
    name = PurePosixPath(name.replace("\\", "/")).name
    if not name.endswith(".zip"):
        if not name.endswith((".py", ".js")):
            raise ConfigError(
                f"{name!r} cannot be submitted. Submit a .py file, a .js file, a folder or a .zip "
                "archive."
            )
        return {name: raw}
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            infos = {
                _validate_entry_name(zip_info): zip_info
                for zip_info in archive.infolist()
                if not zip_info.is_dir()
            }
            infos = {
                name: zip_info for name, zip_info in infos.items() if not _is_hidden(Path(name))
            }
            _check_size(sum(zip_info.file_size for zip_info in infos.values()), len(infos))
            return {name: _read_archive_file(archive, zip_info) for name, zip_info in infos.items()}
    except _ARCHIVE_ERRORS as error:
        raise ConfigError(f"The zip archive {name!r} cannot be unpacked: {error}.") from None


def _read_archive_file(archive: zipfile.ZipFile, zip_info: zipfile.ZipInfo) -> bytes:
    """Return the contents of a file; raise `ConfigError` if it exceeds its stated size.

    A hostile archive states a small size and unpacks to gigabytes, so the stated size is not
    trusted: reading stops one byte after it.
    """
    with archive.open(zip_info) as file:
        raw = file.read(zip_info.file_size + 1)
    _check_size(len(raw) if len(raw) <= zip_info.file_size else LARGEST + 1, 1)
    return raw


def _validate_entry_name(zip_info: zipfile.ZipInfo) -> str:
    """Return the name of an archive's entry.

    Raise `ConfigError` unless it is a regular file whose path stays inside the folder.
    """
    kind, name = stat.S_IFMT(zip_info.external_attr >> 16), PurePosixPath(zip_info.filename)
    if zip_info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ConfigError(
            f"{zip_info.filename!r} is compressed by an unsupported method. Pack it with `zip`."
        )
    if kind not in {0, stat.S_IFREG}:
        raise ConfigError(
            f"{zip_info.filename!r} is not a regular file. Remove it; links are not allowed."
        )
    if name.is_absolute() or ".." in name.parts or set(zip_info.filename) & {"\\", ":", "\0"}:
        raise ConfigError(f"{zip_info.filename!r} points outside the archive. Remove it.")
    return str(name)


def _check_size(byte_count: int, files: int) -> None:
    if byte_count > LARGEST or files > MAX_FILES:
        raise ConfigError(
            f"A submission may have at most {LARGEST // 10**6} MB after unpacking and {MAX_FILES} "
            "files. Remove what the bot does not need."
        )


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "__pycache__", "__MACOSX")) for part in path.parts)


class TeamSubmissions(NamedTuple):
    """The versions of a team, in a folder of their own: 1, 2, 3 and so on."""

    folder: Path
    is_sandboxed: bool = True
    needs_kernel_limits: bool = True

    @property
    def reference(self) -> Submission:
        """Reference to the newest version, at the time when it is built."""
        return Submission(self.is_sandboxed, self.folder, self.needs_kernel_limits)

    @property
    def version_folders(self) -> list[Path]:
        """The versions' folders, the newest last."""
        numbered = (folder for folder in self.folder.glob("*") if folder.name.isdecimal())
        return sorted(numbered, key=lambda folder: int(folder.name))

    def register_version_as_strategy(
        self, version: Path, game: Game, *, use_absolute_paths: bool = True
    ) -> str:
        """Return the strategy name of a version that has answered once and can be built.

        Without `use_absolute_paths` its processes are ended again. Raises `ConfigError` if it
        cannot play.
        """
        if game.program_protocol is None:
            raise ConfigError(
                f"Submissions for {game.title} are not possible yet: the game defines no protocol "
                "for programs."
            )
        file, words = _find_entry_point(version)
        if file is not None:
            words = worker_command(file, game)
        if self.is_sandboxed:
            words = sandbox_command(
                version,
                words,
                self.folder.parents[1],
                self.folder / VIOLATIONS_FILE,
                needs_kernel_limits=self.needs_kernel_limits,
            )
        command, fault = shlex.join(words), ""
        try:
            if file is not None:
                return register_strategy_file(file, game, command).name
            return external_program.register_program(command, game, str(version))
        except CardsharpError as error:
            fault = escape_control_chars(str(error).replace(f"{version}/", ""))
        finally:
            if not use_absolute_paths:
                subprocess_strategy.stop_idle_processes(command)
        raise ConfigError(fault)

    def take_sandbox_violations(self) -> list[str]:
        """Return what the sandboxes have refused since the last call, a sentence a kind."""
        with (
            suppress(FileNotFoundError),
            (self.folder / VIOLATIONS_FILE).open("r+", encoding="utf-8") as file,
        ):
            flock(file, LOCK_EX)  # nothing is noted between our reading and emptying it
            lines = file.read().splitlines()
            file.truncate(0)
            return list(dict.fromkeys(lines))
        return []

    @property
    def latest_folder(self) -> Path:
        """The folder of the newest version; raises `ConfigError` if there is none."""
        if not self.version_folders:
            raise ConfigError("Nothing has been submitted yet.")
        return self.version_folders[-1]

    def add_version(self, contents: Contents, game: Game) -> int:
        """Store a new version, which plays from the next match on, and return its number.

        Raises `ConfigError` if it cannot play or there are too many versions.
        """
        version_number = int(self.latest_folder.name) + 1 if self.version_folders else 1
        if version_number > MAX_VERSIONS:
            raise ConfigError(
                f"Your team has already submitted {MAX_VERSIONS} versions, which is the limit."
            )
        self.folder.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        restrict_to_owner(self.folder.parent, DIRECTORY_MODE)
        with tempfile.TemporaryDirectory(prefix="new-", dir=self.folder) as temporary:
            draft = Path(temporary, "made")
            _write_files(contents, draft)
            self.register_version_as_strategy(draft, game, use_absolute_paths=False)
            with suppress(OSError):  # somebody else submits at the same time
                draft.rename(self.folder / str(version_number))
                return version_number
        raise ConfigError(
            "Another version was uploaded at the same time. Check the list of versions, and upload "
            "yours again if you need it."
        )


def team_submissions(
    contest: Path, team: str, isolation: Submission = DEFAULT_ISOLATION
) -> TeamSubmissions:
    """Return the versions of a team in a contest's folder, which run in this isolation."""
    return TeamSubmissions(
        contest.absolute() / "submissions" / team,
        isolation.is_sandboxed,
        isolation.needs_kernel_limits,
    )


def resolve_team_strategy(
    strategy: StrategyReference, contest: Path, team: str
) -> StrategyReference:
    """Return a team's strategy; for a submission with the folder of the team's versions."""
    if not isinstance(strategy, Submission) or strategy.folder is not None:
        return strategy
    return replace(strategy, folder=team_submissions(contest, team).folder)


def is_missing_submission(reference: StrategyReference) -> bool:
    """Return True if the reference is to a submission without any version yet."""
    return isinstance(reference, Submission) and not _versions_of(reference).version_folders


def submission_files(reference: Submission) -> tuple[Path, ...]:
    """Return the files of a submission's newest version; raise `ConfigError` if it has none."""
    latest_folder = _versions_of(reference).latest_folder
    return tuple(file for file in sorted(latest_folder.rglob("*")) if file.is_file())


def register_submission(reference: Submission, game: Game) -> str:
    """Register the newest version and return its strategy name; raise `ConfigError` on failure."""
    versions = _versions_of(reference)
    return versions.register_version_as_strategy(versions.latest_folder, game)


def _versions_of(reference: Submission) -> TeamSubmissions:
    """Return the versions of the team that a reference is about."""
    return TeamSubmissions(
        reference.folder or Path(), reference.is_sandboxed, reference.needs_kernel_limits
    )


def _write_files(contents: Contents, folder: Path) -> None:
    """Write the files of a version; raise `ConfigError` for an impossible file name."""
    try:
        for name, raw in contents.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(raw)
    except OSError as error:
        raise ConfigError(
            f"The file {name!r} cannot be stored under that name: {error.strerror}. Rename it."
        ) from None
    for path in (folder, *folder.rglob("*")):
        # The sandbox may run as another user, who must be able to read everything. A .py file is
        # not made executable, because an executable file would count as a program.
        path.chmod(0o644 if path.suffix == ".py" else 0o755)


def _find_entry_point(folder: Path) -> tuple[Path | None, list[str]]:
    """Return the strategy file of a version, or None and the arguments of its command.

    Raise `ConfigError` if the version has neither.
    """
    files = list(_find_entry_files(folder))
    if not files:
        raise ConfigError(
            "The submission does not say how to start it. Add a bot.py, a bot.js, or a file `run` "
            "with a line such as `python3 main.py`."
        )
    entry_file = files[0]
    if (entry_file.parent / "requirements.txt").exists():
        raise ConfigError(
            "Packages of requirements.txt are not installed here. Put them into the folder "
            "`packages` beside your code (pip install --target packages ...), and remove that file."
        )
    if entry_file.suffix == ".py":
        return entry_file, []
    if entry_file.suffix == ".js":
        return None, ["node", str(entry_file)]
    return None, _parse_run_file(entry_file)


def _parse_run_file(file: Path) -> list[str]:
    """Return the arguments in the file `run`; the submission's own files get full paths."""
    words = split_command(file.read_text("utf-8", "replace"))
    if not words or ("/" in words[0] and not _is_submission_file(words[0], file.parent)):
        raise ConfigError(
            "The file `run` needs one line with a command: a program with arguments, such as "
            "`python3 main.py`, or a file of the submission, such as `./bot`."
        )
    return [
        str(file.parent / argument) if _is_submission_file(argument, file.parent) else argument
        for argument in words
    ]


def _is_submission_file(argument: str, folder: Path) -> bool:
    """Return True if an argument of the command names a file of the submission."""
    path = Path(argument)
    return ".." not in path.parts and not path.is_absolute() and (folder / path).is_file()


def _find_entry_files(folder: Path) -> Iterator[Path]:
    """Yield the files that can start the submission, the preferred one first."""
    plain = list(folder.iterdir())
    # Most archives contain a single folder with everything in it.
    inner = plain[0] if len(plain) == 1 and plain[0].is_dir() else folder
    yield from (inner / name for name in ("run", "bot.py", "bot.js") if (inner / name).is_file())
    if len(plain) == 1 and plain[0].suffix in {".py", ".js"}:
        yield plain[0]
