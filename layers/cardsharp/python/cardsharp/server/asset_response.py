"""Responses with the static files of a site."""

from collections.abc import Callable
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cardsharp.pages.assets import HEADERS, AssetSet


def asset_response(
    assets: AssetSet, name: str, cache_control: str = HEADERS["Cache-Control"]
) -> Response | None:
    """Return the response with an asset of a site, None if the site has no such asset."""
    asset = assets.read(name)
    if asset is None:
        return None
    text, media_type = asset
    return Response(
        text, media_type=media_type, headers={**HEADERS, "Cache-Control": cache_control}
    )


def asset_endpoint(
    assets: AssetSet, cache_control: str = HEADERS["Cache-Control"]
) -> Callable[[Request], Response]:
    """Return the endpoint of the assets of a site, for a path that ends with `/{name}`."""

    def serve_asset(request: Request) -> Response:
        response = asset_response(assets, request.path_params["name"], cache_control)
        if response is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return response

    return serve_asset
