"""What a team has submitted, to be played for it: its versions, checked and kept.

A submission is a file, a folder or a zip archive. What it is started by is its file `run` with a
command in a line, such as `python3 bot.py` or `./bot`, else `bot.py`, a strategy file, or `bot.js`,
a program for node. A file that comes alone may have another name.
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

from cardsharp.cloud.private import FOLDER, narrow
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.game import Game
from workbench import process, program
from workbench.housed import house_of, housed
from workbench.sandbox import boxed
from workbench.warden import plain

NOTES = "tried"  # beside the versions: what their sandboxes note was tried in vain

LARGEST, MOST_FILES, MOST_VERSIONS = 2_000_000, 200, 100
"""Bytes and files of a version, unpacked, and versions of a team."""

SANDBOXED, TRUSTED = "submission", "trusted-submission"  # of who submits, the second without one

_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, LookupError, OverflowError),
)
"""What reading a zip archive may raise."""

Contents = dict[str, bytes]  # files by their names in a folder


def contents_of(path: Path) -> Contents:
    """What a file, folder or archive holds; raises `ConfigError` if it may not be submitted."""
    if not path.is_dir():
        try:
            with path.open("rb") as file:
                return unpacked(path.name, file.read(LARGEST + 1))
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    files = [one for one in sorted(path.rglob("*")) if not _is_hidden(one.relative_to(path))]
    for one in files:
        if one.is_symlink() or not (one.is_file() or one.is_dir()):
            raise ConfigError(f"{str(one)!r} is no plain file; a submission holds these only.")
    named = {str(one.relative_to(path)): one for one in files if one.is_file()}
    _check_size(sum(one.stat().st_size for one in named.values()), len(named))
    return {name: one.read_bytes() for name, one in named.items()}


def unpacked(name: str, raw: bytes) -> Contents:
    """What a file of that name holds, itself or as a zip archive; raises as `contents_of`."""
    _check_size(len(raw), 1)
    name = PurePosixPath(name.replace("\\", "/")).name
    if not name.endswith(".zip"):
        if not name.endswith((".py", ".js")):
            raise ConfigError(f"{name!r} is no .py or .js file, folder or .zip archive.")
        return {name: raw}
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            infos = {_inside(one): one for one in archive.infolist() if not one.is_dir()}
            infos = {name: one for name, one in infos.items() if not _is_hidden(Path(name))}
            _check_size(sum(one.file_size for one in infos.values()), len(infos))
            return {name: _read(archive, one) for name, one in infos.items()}
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
    if size > LARGEST or files > MOST_FILES:
        raise ConfigError(
            f"A submission may have {LARGEST // 10**6} MB, unpacked, and {MOST_FILES} files; "
            "leave out what it does not need."
        )


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "__pycache__", "__MACOSX")) for part in path.parts)


class Submitted(NamedTuple):
    """The versions of a team, in a folder of their own: 1, 2, 3 and so on."""

    folder: Path
    sandboxed: bool = True

    @property
    def name(self) -> str:
        """The name as a strategy's of the newest version, whichever that is when it is built."""
        return f"{SANDBOXED if self.sandboxed else TRUSTED}:{quote(str(self.folder))}"

    @property
    def versions(self) -> list[Path]:
        """The versions' folders, the newest last."""
        numbered = (one for one in self.folder.glob("*") if one.name.isdecimal())
        return sorted(numbered, key=lambda one: int(one.name))

    def playable(self, version: Path, of: Game, *, lasting: bool = True) -> str:
        """The name of a version as a strategy that can be built now; it has answered once.

        Unless it is `lasting`, its processes end again. Raises `ConfigError` if it cannot play.
        """
        if of.program is None:
            raise ConfigError(f"No program can play {of.title} yet, so nothing can be submitted.")
        file, words = _entry(version)
        if file is not None:
            words = house_of(file, of)
        if self.sandboxed:
            words = boxed(version, words, self.folder.parents[1], self.folder / NOTES)
        command, fault = shlex.join(words), ""
        try:
            if file is not None:
                return housed(file, of, command).name
            return program.program_named(command, of, str(version))
        except CardsharpError as error:
            fault = plain(str(error).replace(f"{version}/", ""))
        finally:
            if not lasting:
                program.dismiss(command)
        raise ConfigError(fault)

    def noted(self) -> list[str]:
        """What was tried in its sandboxes in vain since the last call, a sentence a kind."""
        with (
            suppress(FileNotFoundError),
            (self.folder / NOTES).open("r+", encoding="utf-8") as file,
        ):
            flock(file, LOCK_EX)  # nothing is noted between our reading and emptying it
            told = file.read().splitlines()
            file.truncate(0)
            return list(dict.fromkeys(told))
        return []

    @property
    def newest(self) -> Path:
        """The folder of the newest version; raises `ConfigError` where there is none."""
        if not self.versions:
            raise ConfigError("Nothing has been submitted yet.")
        return self.versions[-1]

    def submit(self, contents: Contents, of: Game) -> int:
        """The number of a new version, played from the next match on; raises `ConfigError`."""
        number = int(self.newest.name) + 1 if self.versions else 1
        if number > MOST_VERSIONS:
            raise ConfigError(f"There are {MOST_VERSIONS} versions already, which is the limit.")
        self.folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        narrow(self.folder.parent, FOLDER)
        with tempfile.TemporaryDirectory(prefix="new-", dir=self.folder) as temporary:
            made = Path(temporary, "made")
            _write(contents, made)
            self.playable(made, of, lasting=False)
            with suppress(OSError):  # somebody else submits at the same time
                made.rename(self.folder / str(number))
                return number
        raise ConfigError("Another version came at the same time; look which one you want.")


def submitted(contest: Path, team: str, strategy: str | None) -> Submitted:
    """The versions of a team with that strategy in a contest's folder."""
    return Submitted(contest.absolute() / "submissions" / team, strategy != TRUSTED)


def played_as(strategy: str, contest: Path, team: str) -> str:
    """The strategy that a team of a contest's folder has, by the name that says where it lies."""
    known = strategy in {SANDBOXED, TRUSTED}
    return submitted(contest, team, strategy).name if known else strategy


def is_awaited(name: str) -> bool:
    """Whether a player is named by a submission that has not come yet."""
    return is_submission(name) and not _of(name).versions


def is_submission(name: str) -> bool:
    """Whether a player is named by a team's submission."""
    return name.partition(":")[0] in {SANDBOXED, TRUSTED}


def files_of(name: str) -> tuple[Path, ...]:
    """The files of the newest version of a submission by its name; raises `ConfigError`."""
    return tuple(one for one in sorted(_of(name).newest.rglob("*")) if one.is_file())


def _of(name: str) -> Submitted:
    return Submitted(Path(unquote(name.partition(":")[2])), not name.startswith(TRUSTED))


def submission_named(name: str, of: Game) -> str:
    """The newest version as a strategy that can be built now; raises `ConfigError` if it cannot."""
    return _of(name).playable(_of(name).newest, of)


def _write(contents: Contents, folder: Path) -> None:
    """Write a version; raises `ConfigError` where its names cannot be."""
    try:
        for name, raw in contents.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(raw)
    except OSError as error:
        raise ConfigError(f"A file cannot be called {name!r} there: {error.strerror}.") from None
    for one in (folder, *folder.rglob("*")):
        # Also for the sandbox's own user; a file that can be run is no strategy file.
        one.chmod(0o644 if one.suffix == ".py" else 0o755)


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
    """The words of a file `run`; those that name files of the submission are whole paths."""
    words = process.words_of(file.read_text("utf-8", "replace"))
    if not words or ("/" in words[0] and not _is_own(words[0], file.parent)):
        raise ConfigError(
            "The file `run` needs a line with a program and its words, such as `python3 main.py`, "
            "or `./bot`, a file of the submission."
        )
    return [str(file.parent / one) if _is_own(one, file.parent) else one for one in words]


def _is_own(word: str, folder: Path) -> bool:
    """Whether a word names a file of the submission."""
    path = Path(word)
    return ".." not in path.parts and not path.is_absolute() and (folder / path).is_file()


def _entries(folder: Path) -> Iterator[Path]:
    """Yield the files that it may be started by, the first one first."""
    plain = list(folder.iterdir())
    inner = plain[0] if len(plain) == 1 and plain[0].is_dir() else folder  # as most archives
    yield from (inner / name for name in ("run", "bot.py", "bot.js") if (inner / name).is_file())
    if len(plain) == 1 and plain[0].suffix in {".py", ".js"}:
        yield plain[0]
