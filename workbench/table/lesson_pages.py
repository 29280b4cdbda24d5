"""A lesson as pages: a question with its choices; once it is answered, what every answer keeps."""

from collections.abc import Sequence
from http import HTTPStatus
from secrets import token_urlsafe

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cardsharp.viewer.pages import thought_part
from workbench.table.lesson import Lesson
from workbench.table.pages import SITE, choosing, template
from workbench.table.room import board_of
from workbench.table.setting import Setting
from workbench.table.site import NEW, form_of


def lesson_routes(lesson: Lesson) -> Sequence[BaseRoute]:
    """The pages `/lesson/1` and so on; raises `ConfigError` for a table that cannot be drawn."""
    board, token = board_of(Setting(lesson.game)), token_urlsafe(16)

    def place_of(request: Request) -> int:
        number: int = request.path_params["number"]
        if not 0 < number <= len(lesson.questions):
            raise HTTPException(HTTPStatus.NOT_FOUND, f"The lesson has no question {number}.")
        return number - 1

    def page(request: Request) -> Response:
        place = place_of(request)
        question = lesson.questions[place]
        screen, position = question.screen, question.asked.position
        told = lesson.corrections.get(place)
        seen = board.seen(screen.names, screen.you, position) if board.seen else {}
        context = {
            **choosing(board, screen.groups(position)),
            "lesson": lesson,
            "place": place,
            "question": question,
            "standing": screen.standing(position),
            "parts": {name: part for name, part in seen.items() if part is not None},
            "told": told,
            "answered": place in lesson.corrections,
            "thought": thought_part(told.thought) if told else "",
            "fields": {"token": token},
        }
        return HTMLResponse(template("lesson.html").render(context, site=SITE), headers=NEW)

    async def answer(request: Request) -> Response:
        place, form = place_of(request), await form_of(request)
        question = lesson.questions[place]
        choices = question.screen.choices(question.asked.position)
        found = [one for one in choices if one.key == form.get("key")]
        if form.get("token") != token or not found:
            raise HTTPException(HTTPStatus.FORBIDDEN, "Answer on the page of the question.")
        await run_in_threadpool(lesson.answer, place, found[0].action)
        return RedirectResponse(f"/lesson/{place + 1}", HTTPStatus.SEE_OTHER, headers=NEW)

    path = "/lesson/{number:int}"
    return [Route(path, page), Route(path, answer, methods=["POST"])]
