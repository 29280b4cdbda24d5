"""Pages of a lesson: a question in the browser, and the review of its answer."""

from collections.abc import Sequence
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cardsharp.pages.match_pages import decision_fragment
from cardsharp.server.forms import TOKEN_FIELD, create_form_token, has_form_token, read_form
from cardsharp_tools.game_rooms.game_room import load_board_renderer
from cardsharp_tools.game_rooms.lessons import ExerciseQuestion, LessonSession
from cardsharp_tools.game_rooms.match_config import MatchConfig
from cardsharp_tools.game_rooms.seat_endpoints import NO_CACHE_HEADERS
from cardsharp_tools.game_rooms.seat_pages import SITE, choice_context, load_template


class _LessonPages:
    """Endpoints of a lesson's pages; raises `ConfigError` if the game cannot be drawn."""

    def __init__(self, lesson: LessonSession) -> None:
        self._lesson = lesson
        self._board = load_board_renderer(MatchConfig(lesson.game))
        self._token = create_form_token()

    def page(self, request: Request) -> Response:
        """GET /lesson/{number}: the question, or the review of its answer."""
        question_index = self._parse_question_index(request)
        context = self._build_page_context(question_index, self._lesson.questions[question_index])
        return HTMLResponse(
            load_template("lesson.html").render(context, site=SITE), headers=NO_CACHE_HEADERS
        )

    async def answer(self, request: Request) -> Response:
        """POST /lesson/{number}: store the answer, then show its review."""
        question_index, form_data = self._parse_question_index(request), await read_form(request)
        question = self._lesson.questions[question_index]
        choices = question.screen.choices(question.decision_point.position)
        chosen = [choice for choice in choices if choice.key == form_data.get("key")]
        if not has_form_token(form_data, self._token) or not chosen:
            raise HTTPException(
                HTTPStatus.FORBIDDEN, "The answer was not sent from the page of this question."
            )
        await run_in_threadpool(self._lesson.submit_answer, question_index, chosen[0].action)
        return RedirectResponse(
            f"/lesson/{question_index + 1}", HTTPStatus.SEE_OTHER, headers=NO_CACHE_HEADERS
        )

    def _parse_question_index(self, request: Request) -> int:
        question_number: int = request.path_params["number"]
        if not 0 < question_number <= len(self._lesson.questions):
            raise HTTPException(
                HTTPStatus.NOT_FOUND, f"The lesson has no question {question_number}."
            )
        return question_number - 1

    def _build_page_context(
        self, question_index: int, question: ExerciseQuestion
    ) -> dict[str, object]:
        screen, position = question.screen, question.decision_point.position
        review, render = self._lesson.corrections.get(question_index), self._board.render_position
        is_answered = question_index in self._lesson.corrections
        choices = choice_context(self._board, [] if is_answered else screen.choice_groups(position))
        board_parts = (
            render(screen.names, screen.you, position, choices["actions"]) if render else {}
        )
        return {
            **choices,
            "lesson": self._lesson,
            "place": question_index,
            "question": question,
            "standing": screen.status_line(position),
            "parts": {name: part for name, part in board_parts.items() if part is not None},
            "told": review,
            "answered": is_answered,
            "thought": decision_fragment(review.thought) if review else "",
            "fields": {TOKEN_FIELD: self._token},
        }


def lesson_routes(lesson: LessonSession) -> Sequence[BaseRoute]:
    """Return the routes of the pages `/lesson/1` and so on.

    Raises `ConfigError` if the game cannot be drawn.
    """
    path, pages = "/lesson/{number:int}", _LessonPages(lesson)
    return [Route(path, pages.page), Route(path, pages.answer, methods=["POST"])]
