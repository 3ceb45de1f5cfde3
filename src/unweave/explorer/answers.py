"""Requests and their answers: all JSON, bounded in size, with one line for what is wrong."""

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from unweave import views
from unweave.errors import ConfigError
from unweave.explorer import patience
from unweave.explorer.open_runs import NoSuchRun

LARGEST_QUERY = 100_000  # characters, far more than any code needs


def twin(answer: Callable[[Request], Any]) -> Callable[[Request], Response]:
    """Return an endpoint that gives plain data as JSON; it runs in a thread of its own."""

    def endpoint(request: Request) -> Response:
        if len(request.url.query) > LARGEST_QUERY:
            raise HTTPException(414, "the address is too long")
        return as_json(answer(request))

    return endpoint


def as_json(content: Any, status: int = 200) -> Response:
    text = json.dumps(views.plain(content), ensure_ascii=False, allow_nan=False)
    # Names of folders need not be text: what no encoding knows is written as JSON escapes it.
    return Response(text.encode("utf-8", "backslashreplace"), status, media_type="application/json")


def say_error(request: Request, error: Exception) -> Response:
    return as_json({"error": str(error)}, 404 if isinstance(error, NoSuchRun) else 400)


def say_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return as_json({"error": error.detail}, error.status_code)


def say_bug(request: Request, error: Exception) -> Response:
    return as_json({"error": f"a bug of ours ({error!r:.200}); the terminal says more"}, 500)


async def bounded_body(request: Request, most: int) -> bytes:
    """Read a request's body, and stop at the limit whatever its headers say."""
    refusal = HTTPException(413, f"at most {most:,} bytes can be sent")
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > most:
        raise refusal
    parts, size = [], 0
    try:
        async with asyncio.timeout(patience.BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise refusal
                parts.append(part)
    except TimeoutError:
        raise HTTPException(408, "what was announced did not come") from None
    return b"".join(parts)


def read_json_body(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ConfigError("expected a JSON object in the request")
    return found


def word(request: Request, name: str) -> str:
    """Return a parameter of the address."""
    if name not in request.query_params:
        raise ConfigError(f"the address needs ?{name}=…")
    return request.query_params[name]


def whole(request: Request, name: str, default: int | None = None) -> int:
    """Return a parameter that is a whole number from 0."""
    if default is not None and name not in request.query_params:
        return default
    text = word(request, name)
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise ConfigError(f"{name} must be a whole number from 0, found {text!r}")
    return int(text)


def step_of(request: Request) -> int | None:
    """Return the step whose weights are asked for; None for the newest."""
    return whole(request, "step") if "step" in request.query_params else None


def given_code(request: Request) -> list[float] | None:
    """Return the code in the address, `?code=0.5,-1,…`, if there is one."""
    if "code" not in request.query_params:
        return None
    try:
        code = [float(part) for part in request.query_params["code"].split(",")]
    except ValueError:
        raise ConfigError("code must be numbers with commas between them") from None
    if not all(map(math.isfinite, code)):
        raise ConfigError("code must be finite numbers")
    return code


def as_png(content: bytes) -> Response:
    return Response(content, media_type="image/png")
