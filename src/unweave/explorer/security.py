"""Who may talk to the explorer: this machine's browser, opened with the token, and nobody else.

A page on the internet can make a browser send requests to loopback. Four checks
stop it: the Host must be ours (else a name that points to 127.0.0.1 would do),
the Origin must be ours where a browser names one, a browser's own word on where
a request comes from must not be another site, and every request carries a
random token, as a cookie, a header or, once, in the address.
"""

import secrets
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_BYTES = 32
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(TOKEN_BYTES)


class Guard:
    """Lets through only requests of a browser or script on this machine that has the token."""

    def __init__(self, app: ASGIApp, *, port: int, token: str, policy: str):
        self.app = app
        self.token = token
        self.cookie = f"unweave_{port}"  # cookies are shared by all ports of a host
        self.hosts = {f"{name}:{port}" for name in LOOPBACK}
        self.origins = {f"http://{host}" for host in self.hosts}
        self.headers = {**HEADERS, "Content-Security-Policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"no {scope['type']} is served here")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(k.lower().encode(), v.encode()) for k, v in self.headers.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        request = Request(scope)
        answer = self.refusal(request) or self.entry(request)
        if answer is not None:
            await answer(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)

    def refusal(self, request: Request) -> Response | None:
        """Return the answer to whoever may not ask, or None."""
        headers = request.headers
        if headers.getlist("host") != [headers.get("host")] or headers["host"] not in self.hosts:
            return _refused("this address is served under a name of loopback only", 421)
        if "origin" in headers and headers["origin"] not in self.origins:
            return _refused("requests of other sites are not answered")
        if _comes_from_another_site(headers, request.method):
            return _refused("requests of other sites are not answered")
        if not self._has_token(request):
            return _refused("open the address that `unweave explore` printed: it has the token")
        return None

    def entry(self, request: Request) -> Response | None:
        """Move a token from the address to a cookie, so that it is not left in the history."""
        if "token" not in request.query_params or request.method != "GET":
            return None
        rest = [(k, v) for k, v in parse_qsl(request.url.query) if k != "token"]
        # One slash: a browser would read two as the name of another host.
        target = "/" + request.url.path.lstrip("/") + (f"?{urlencode(rest)}" if rest else "")
        answer = RedirectResponse(target, status_code=303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="lax", path="/")
        return answer

    def _has_token(self, request: Request) -> bool:
        given = [request.cookies.get(self.cookie), request.query_params.get("token")]
        kind, _, word = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            given.append(word.strip())
        mine = self.token.encode()
        return any(secrets.compare_digest(word.encode(), mine) for word in given if word)


def _comes_from_another_site(headers: Headers, method: str) -> bool:
    """Read a browser's own note; following a link to us from elsewhere is allowed."""
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return False
    return method != "GET" or headers.get("sec-fetch-mode") != "navigate"


def _refused(reason: str, status: int = 403) -> Response:
    return JSONResponse({"error": reason}, status)
