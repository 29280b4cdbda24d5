"""Submissions of teams, which are played for them: versions are read, checked and stored.

A submission is a file, a folder or a zip archive. It is started by its file `run`, which has a
command in one line, such as `python3 bot.py` or `./bot`; without that file by `bot.py`, a
strategy file, or by `bot.js`, a program for node. A file that is submitted alone may have
another name.
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
from fcntl import LOCK_EX, flock
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, unquote

from cardsharp.core.private_files import DIRECTORY_MODE, restrict_permissions
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.play.game import Game
from cardsharp_tools.executors import external_program, line_process
from cardsharp_tools.executors.sandbox import sandbox_command
from cardsharp_tools.executors.sandbox_supervisor import escape_control_chars
from cardsharp_tools.executors.strategy_process import load_strategy_file, worker_command

VIOLATIONS_FILE = "tried"  # beside the versions: what their sandboxes note was tried in vain

LARGEST, MAX_FILES, MAX_VERSIONS = 2_000_000, 200, 100
"""Bytes and files of a version, unpacked, and versions of a team."""

SANDBOXED, TRUSTED = "submission", "trusted-submission"  # of who submits, the second without one

_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, LookupError, OverflowError),
)
"""Exceptions that reading a zip archive may raise."""

Contents = dict[str, bytes]  # files by their names in a folder


def read_submission(path: Path) -> Contents:
    """Return the contents of a file, folder or archive; raise `ConfigError` if not allowed."""
    if not path.is_dir():
        try:
            with path.open("rb") as file:
                return unpack_upload(path.name, file.read(LARGEST + 1))
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    files = [entry for entry in sorted(path.rglob("*")) if not _is_hidden(entry.relative_to(path))]
    for entry in files:
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            raise ConfigError(f"{str(entry)!r} is no plain file; a submission holds these only.")
    files_by_name = {str(entry.relative_to(path)): entry for entry in files if entry.is_file()}
    _check_size(sum(entry.stat().st_size for entry in files_by_name.values()), len(files_by_name))
    return {name: entry.read_bytes() for name, entry in files_by_name.items()}


def unpack_upload(name: str, raw: bytes) -> Contents:
    """Return the contents of an uploaded file or zip archive; raise as `read_submission` does."""
    _check_size(len(raw), 1)
    name = PurePosixPath(name.replace("\\", "/")).name
    if not name.endswith(".zip"):
        if not name.endswith((".py", ".js")):
            raise ConfigError(f"{name!r} is no .py or .js file, folder or .zip archive.")
        return {name: raw}
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            infos = {_inside(info): info for info in archive.infolist() if not info.is_dir()}
            infos = {name: info for name, info in infos.items() if not _is_hidden(Path(name))}
            _check_size(sum(info.file_size for info in infos.values()), len(infos))
            return {name: _read(archive, info) for name, info in infos.items()}
    except _UNREADABLE as error:
        raise ConfigError(f"{name!r} is no zip archive that can be unpacked: {error}.") from None


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """One file, and no more of it than the archive says."""
    with archive.open(info) as file:
        raw = file.read(info.file_size + 1)
    _check_size(len(raw) if len(raw) <= info.file_size else LARGEST + 1, 1)
    return raw


def _inside(info: zipfile.ZipInfo) -> str:
    """Its name, where it is a plain file below the archive's folder."""
    kind, name = stat.S_IFMT(info.external_attr >> 16), PurePosixPath(info.filename)
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ConfigError(f"{info.filename!r} is packed in a rare way; pack it by `zip`.")
    if kind not in {0, stat.S_IFREG}:
        raise ConfigError(f"{info.filename!r} is no plain file; a submission holds these only.")
    if name.is_absolute() or ".." in name.parts or set(info.filename) & {"\\", ":", "\0"}:
        raise ConfigError(f"{info.filename!r} leads out of the archive; pack what is in it only.")
    return str(name)


def _check_size(size: int, files: int) -> None:
    if size > LARGEST or files > MAX_FILES:
        raise ConfigError(
            f"A submission may have {LARGEST // 10**6} MB, unpacked, and {MAX_FILES} files; "
            "leave out what it does not need."
        )


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "__pycache__", "__MACOSX")) for part in path.parts)


class TeamSubmissions(NamedTuple):
    """The versions of a team, in a folder of their own: 1, 2, 3 and so on."""

    folder: Path
    is_sandboxed: bool = True

    @property
    def name(self) -> str:
        """The name as a strategy's of the newest version, whichever that is when it is built."""
        return f"{SANDBOXED if self.is_sandboxed else TRUSTED}:{quote(str(self.folder))}"

    @property
    def versions(self) -> list[Path]:
        """The versions' folders, the newest last."""
        numbered = (folder for folder in self.folder.glob("*") if folder.name.isdecimal())
        return sorted(numbered, key=lambda folder: int(folder.name))

    def load_version(self, version: Path, game: Game, *, use_absolute_paths: bool = True) -> str:
        """Return the strategy name of a version that has answered once and can be built.

        Without `use_absolute_paths` its processes are ended again. Raises `ConfigError` if it
        cannot play.
        """
        if game.program_protocol is None:
            raise ConfigError(f"No program can play {game.title} yet, so nothing can be submitted.")
        file, words = _entry(version)
        if file is not None:
            words = worker_command(file, game)
        if self.is_sandboxed:
            words = sandbox_command(
                version, words, self.folder.parents[1], self.folder / VIOLATIONS_FILE
            )
        command, fault = shlex.join(words), ""
        try:
            if file is not None:
                return load_strategy_file(file, game, command).name
            return external_program.load_program(command, game, str(version))
        except CardsharpError as error:
            fault = escape_control_chars(str(error).replace(f"{version}/", ""))
        finally:
            if not use_absolute_paths:
                external_program.stop_processes(command)
        raise ConfigError(fault)

    def take_violations(self) -> list[str]:
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
    def latest(self) -> Path:
        """The folder of the newest version; raises `ConfigError` where there is none."""
        if not self.versions:
            raise ConfigError("Nothing has been submitted yet.")
        return self.versions[-1]

    def add_version(self, contents: Contents, game: Game) -> int:
        """The number of a new version, played from the next match on; raises `ConfigError`."""
        number = int(self.latest.name) + 1 if self.versions else 1
        if number > MAX_VERSIONS:
            raise ConfigError(f"There are {MAX_VERSIONS} versions already, which is the limit.")
        self.folder.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        restrict_permissions(self.folder.parent, DIRECTORY_MODE)
        with tempfile.TemporaryDirectory(prefix="new-", dir=self.folder) as temporary:
            draft = Path(temporary, "made")
            _write(contents, draft)
            self.load_version(draft, game, use_absolute_paths=False)
            with suppress(OSError):  # somebody else submits at the same time
                draft.rename(self.folder / str(number))
                return number
        raise ConfigError("Another version came at the same time; look which one you want.")


def submissions_of(contest: Path, team: str, strategy: str | None) -> TeamSubmissions:
    """The versions of a team with that strategy in a contest's folder."""
    return TeamSubmissions(contest.absolute() / "submissions" / team, strategy != TRUSTED)


def submission_strategy_name(strategy: str, contest: Path, team: str) -> str:
    """The strategy that a team of a contest's folder has, by the name that says where it lies."""
    is_submitted = strategy in {SANDBOXED, TRUSTED}
    return submissions_of(contest, team, strategy).name if is_submitted else strategy


def is_missing_submission(name: str) -> bool:
    """Return True if a player is named by a submission that has no version yet."""
    return is_submission(name) and not _of(name).versions


def is_submission(name: str) -> bool:
    """Return True if a player is named by a team's submission."""
    return name.partition(":")[0] in {SANDBOXED, TRUSTED}


def submission_files(name: str) -> tuple[Path, ...]:
    """The files of the newest version of a submission by its name; raises `ConfigError`."""
    return tuple(file for file in sorted(_of(name).latest.rglob("*")) if file.is_file())


def _of(name: str) -> TeamSubmissions:
    return TeamSubmissions(Path(unquote(name.partition(":")[2])), not name.startswith(TRUSTED))


def load_submission(name: str, game: Game) -> str:
    """The newest version as a strategy that can be built now; raises `ConfigError` if it cannot."""
    return _of(name).load_version(_of(name).latest, game)


def _write(contents: Contents, folder: Path) -> None:
    """Write a version; raises `ConfigError` where its names cannot be."""
    try:
        for name, raw in contents.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(raw)
    except OSError as error:
        raise ConfigError(f"A file cannot be called {name!r} there: {error.strerror}.") from None
    for path in (folder, *folder.rglob("*")):
        # Also for the sandbox's own user; a file that can be run is no strategy file.
        path.chmod(0o644 if path.suffix == ".py" else 0o755)


def _entry(folder: Path) -> tuple[Path | None, list[str]]:
    """A version's strategy file, or else the words of its command."""
    files = list(_entries(folder))
    if not files:
        raise ConfigError(
            "Nothing says how it is started: it needs a bot.py, a bot.js, or a file `run` with a "
            "line such as `python3 main.py`."
        )
    first = files[0]
    if (first.parent / "requirements.txt").exists():
        raise ConfigError(
            "requirements.txt is not installed here: put what you need into the folder `packages` "
            "beside your code (pip install --target packages ...), and leave that file out."
        )
    if first.suffix == ".py":
        return first, []
    if first.suffix == ".js":
        return None, ["node", str(first)]
    return None, _command(first)


def _command(file: Path) -> list[str]:
    """Return the arguments in a file `run`, with full paths of the submission's own files."""
    words = line_process.split_command(file.read_text("utf-8", "replace"))
    if not words or ("/" in words[0] and not _is_submission_file(words[0], file.parent)):
        raise ConfigError(
            "The file `run` needs a line with a program and its words, such as `python3 main.py`, "
            "or `./bot`, a file of the submission."
        )
    return [
        str(file.parent / argument) if _is_submission_file(argument, file.parent) else argument
        for argument in words
    ]


def _is_submission_file(argument: str, folder: Path) -> bool:
    """Return True if an argument of the command names a file of the submission."""
    path = Path(argument)
    return ".." not in path.parts and not path.is_absolute() and (folder / path).is_file()


def _entries(folder: Path) -> Iterator[Path]:
    """Yield the files that it may be started by, the first one first."""
    plain = list(folder.iterdir())
    inner = plain[0] if len(plain) == 1 and plain[0].is_dir() else folder  # as most archives
    yield from (inner / name for name in ("run", "bot.py", "bot.js") if (inner / name).is_file())
    if len(plain) == 1 and plain[0].suffix in {".py", ".js"}:
        yield plain[0]
