"""Static files that pages load, and the headers of a strict security policy."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

_MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class AssetFolder:
    """Static files in a folder of a package, by name.

    >>> BASE_ASSETS.read("look.css").startswith("/*")
    True
    """

    package: str
    folder: str
    names: tuple[str, ...]

    def read(self, name: str) -> str:
        """Return the text of a file."""
        return _read_package_file(self.package, self.folder, name)


BASE_ASSETS = AssetFolder(
    "cardsharp.pages",
    "page",
    (
        "look.css",
        "viewer.css",
        "match.js",
        "offer.js",
        "motion.js",
        "live.js",
        "list.js",
        "viewer.svg",
    ),
)
"""Assets of the base template and of a match's page.

`look.css` is the look of every page: colours, type, buttons, tables; other styles only add to it.
"""


class AssetSet:
    """All assets of a site: those of the base template, and those of further folders."""

    def __init__(self, *further_folders: AssetFolder) -> None:
        self._folder_by_name = {
            name: folder for folder in (BASE_ASSETS, *further_folders) for name in folder.names
        }

    @property
    def names(self) -> list[str]:
        """Names of all assets."""
        return [*self._folder_by_name]

    def read(self, name: str) -> tuple[str, str] | None:
        """Return the text and the content type of an asset, None if there is no such asset."""
        folder = self._folder_by_name.get(name)
        if folder is None:
            return None
        return folder.read(name), _MEDIA_TYPES[name.rpartition(".")[2]]

    def version(self) -> str:
        """Return a short text that changes with the contents."""
        texts = (folder.read(name) for name, folder in self._folder_by_name.items())
        return sha256("".join(texts).encode()).hexdigest()[:12]


BASE_ASSET_SET = AssetSet()
"""Assets of a site whose pages need no further ones."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of every page that is served: nothing inline, nothing foreign."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    # Without a referrer a browser would send the forms of these pages with the origin "null".
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def csp_hash(text: str) -> str:
    """Return the source expression that allows an inline style or script in a policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def bundled_script() -> str:
    """The script of a match's page with what it imports, for a page that loads nothing."""
    motion = BASE_ASSETS.read("motion.js").replace("export function", "function")
    page = BASE_ASSETS.read("match.js")
    return motion + page.replace('import { moving } from "./motion.js";\n', "")


@cache  # an entry for each file of the packages
def _read_package_file(package: str, folder: str, name: str) -> str:
    return files(package).joinpath(folder, name).read_text(encoding="utf-8")
