"""The explorer's server: every address in one list, each page with a `.json` twin.

It listens on loopback only. Pages are one HTML file that reads the twin of its own
address; all figures come from `contents`.
"""

import asyncio
import io
import logging
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from unweave.errors import ConfigError, UnweaveError
from unweave.explorer import (
    counterfactuals,
    embedding,
    kept_applications,
    kept_pictures,
    page_data,
    page_files,
    run_list,
    score_cards,
    study_pages,
)
from unweave.explorer.answers import (
    as_json,
    as_png,
    bounded_body,
    given_code,
    read_json_body,
    say_bug,
    say_error,
    say_http_error,
    step_of,
    twin,
    whole,
    word,
)
from unweave.explorer.open_runs import Library, OpenRun
from unweave.explorer.patience import PatientProtocol
from unweave.explorer.security import Guard, new_token
from unweave.runs.folder import RunFolder

LARGEST_UPLOAD = 10_000_000  # bytes


class AnyPath(Convertor[str]):
    """The rest of an address, whatever characters it has; starlette's own stops at a new line."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any_path", AnyPath())


def make_app(library: Library, *, port: int, token: str) -> Starlette:
    """Return the application; `port` is part of the addresses it answers to."""

    def one_run(show: Callable[[OpenRun, Request], Any]) -> Callable[[Request], Any]:
        def answer(request: Request) -> Any:
            return show(library.open(request.path_params["name"], step_of(request)), request)

        return twin(answer)

    def of_folder(show: Callable[[Library, str], Any]) -> Callable[[Request], Any]:
        return twin(lambda request: show(library, request.path_params["name"]))

    async def encode(request: Request) -> Response:
        content = await bounded_body(request, LARGEST_UPLOAD)
        name, step = request.path_params["name"], step_of(request)
        return await run_in_threadpool(
            lambda: as_json(page_data.start_from_upload(library.open(name, step), content))
        )

    async def name_latent(request: Request) -> Response:
        wanted = read_json_body(await bounded_body(request, 10_000))
        opened = await run_in_threadpool(library.open, request.path_params["name"])
        return as_json(page_data.name_latent(opened, wanted.get("latent"), wanted.get("name")))

    async def allow_data(request: Request) -> Response:
        wanted = read_json_body(await bounded_body(request, 100_000))
        opened = await run_in_threadpool(library.open, request.path_params["name"])
        return as_json(page_data.allow_data(opened, wanted.get("places")))

    def decoder(request: Request) -> Response:
        opened = library.open(request.path_params["name"], step_of(request))
        return Response(opened.decoder, media_type="application/octet-stream")

    def picture(show: Callable[[RunFolder, Request], bytes]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            content = show(library.folder(request.path_params["name"]), request)
            return as_png(content)

        return answer

    def image(request: Request) -> Response:
        opened = library.open(request.path_params["name"])
        content = io.BytesIO()
        embedding.image_of_row(opened, whole(request, "row")).save(content, "PNG")
        return as_png(content.getvalue())

    def application_figure(request: Request) -> Response:
        opened = library.open(request.path_params["name"])
        content = kept_applications.figure(opened, request.path_params["application"])
        return as_png(content)

    run = "/runs/{name:any_path}"
    routes = [
        Route("/", page),
        Route("/compare", page),
        Route(
            "/runs.json",
            twin(lambda r: run_list.all_runs(library, whole(r, "since", default=0))),
        ),
        Route(
            "/compare.json",
            twin(lambda r: page_data.comparison(library, r.query_params.getlist("run"))),
        ),
        Route(
            "/studies/{study}.json",
            twin(lambda r: study_pages.study(library, r.path_params["study"])),
        ),
        Route("/studies/{study}", page),
        Route("/page/{file}", page_file),
        Route(f"{run}/status.json", of_folder(lambda lib, n: run_list.progress(lib.folder(n)))),
        Route(f"{run}/curves.json", of_folder(lambda lib, n: page_data.curves(lib.folder(n)))),
        Route(
            f"{run}/latents.json",
            one_run(lambda o, r: page_data.latents(o, quick="quick" in r.query_params)),
        ),
        Route(f"{run}/scores.json", of_folder(score_cards.score_cards)),
        Route(f"{run}/applications.json", one_run(lambda o, r: kept_applications.kept(o))),
        Route(f"{run}/applications/{{application}}.png", application_figure),
        Route(f"{run}/alignment.json", one_run(lambda o, r: page_data.alignment(o))),
        Route(f"{run}/caption.json", one_run(lambda o, r: page_data.caption(o))),
        Route(f"{run}/warnings.json", one_run(lambda o, r: page_data.warnings(o))),
        Route(f"{run}/response.json", one_run(lambda o, r: page_data.response(o))),
        Route(
            f"{run}/heat_map.json",
            one_run(lambda o, r: page_data.heat_map(o, r.query_params.get("kind", "mi"))),
        ),
        Route(
            f"{run}/scatter.json",
            one_run(lambda o, r: page_data.scatter(o, whole(r, "latent"), word(r, "factor"))),
        ),
        Route(
            f"{run}/row.json", one_run(lambda o, r: page_data.start_from_row(o, whole(r, "row")))
        ),
        Route(
            f"{run}/prior.json",
            one_run(lambda o, r: page_data.start_from_prior(o, whole(r, "seed"))),
        ),
        Route(
            f"{run}/decoded.json", one_run(lambda o, r: page_data.decoded(o, given_code(r) or []))
        ),
        Route(
            f"{run}/traversals.json", one_run(lambda o, r: page_data.traversals(o, given_code(r)))
        ),
        Route(
            f"{run}/embedding.json",
            one_run(lambda o, r: embedding.embedding(o, r.query_params.get("axes", "pca"))),
        ),
        Route(
            f"{run}/neighbors.json",
            one_run(lambda o, r: embedding.neighbors(o, given_code(r))),
        ),
        Route(f"{run}/image.png", image),
        Route(f"{run}/factors.json", one_run(lambda o, r: counterfactuals.factors(o))),
        Route(
            f"{run}/counterfactual.json",
            one_run(
                lambda o, r: counterfactuals.counterfactual(
                    o, whole(r, "row"), word(r, "factor"), whole(r, "value")
                )
            ),
        ),
        Route(f"{run}/leakage.json", one_run(lambda o, r: counterfactuals.leakage_of(o))),
        Route(
            f"{run}/training_pictures.json",
            of_folder(lambda lib, n: kept_pictures.training_pictures(lib.folder(n))),
        ),
        Route(
            f"{run}/training/{{file}}",
            picture(lambda f, r: kept_pictures.training_picture(f, r.path_params["file"])),
        ),
        Route(f"{run}/thumbnail.png", picture(lambda f, r: kept_pictures.thumbnail(f))),
        Route(f"{run}/decoder.onnx", decoder),
        Route(f"{run}/encode", encode, methods=["POST"]),
        Route(f"{run}/name", name_latent, methods=["POST"]),
        Route(f"{run}/data", allow_data, methods=["POST"]),
        Route(f"{run}.json", of_folder(page_data.run_facts)),
        Route(run, page),
    ]
    guard = Middleware(Guard, port=port, token=token, policy=page_files.POLICY)
    handlers = {UnweaveError: say_error, HTTPException: say_http_error, Exception: say_bug}
    return Starlette(routes=routes, middleware=[guard], exception_handlers=handlers)


def page(request: Request) -> Response:
    """Return the one page; its script reads the address and asks for the twin."""
    return HTMLResponse(page_files.served_page())


def page_file(request: Request) -> Response:
    """Return a script, style or runtime file of the page, from a fixed list."""
    path = page_files.FILES.get(request.path_params["file"])
    if path is None:
        raise HTTPException(404, "no such file of the page")
    # These change only with the package; asking whether they did is cheap.
    return FileResponse(path, media_type=page_files.media_type(path))


@contextmanager
def in_background(folder: str | Path, token: str | None = None) -> Iterator[tuple[int, str]]:
    """Serve from a thread while the block runs; yields port and token."""
    listener = listen(0)
    port, token = listener.getsockname()[1], token or new_token()
    app = make_app(Library(folder), port=port, token=token)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", http=PatientProtocol))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield port, token
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def serve(folder: str | Path, *, port: int = 0, browser: bool = True) -> None:
    """Serve the page over the runs of a folder until interrupted."""
    library = Library(folder)
    listener = listen(port)
    port = listener.getsockname()[1]
    token = new_token()
    app = make_app(library, port=port, token=token)
    start = f"runs/{library.root.name}" if library.is_one_run else ""
    address = f"http://127.0.0.1:{port}/{start}?token={token}"
    count = len(library.names())
    found = "1 run" if count == 1 else f"{count} runs"
    print(f"{found} in {library.root}\nopen {address}\nstop with Ctrl-C", flush=True)
    if browser:
        webbrowser.open(address)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        http=PatientProtocol,
        lifespan="off",
    )
    logging.getLogger("uvicorn.error").addFilter(is_worth_telling)
    with listener, suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def is_worth_telling(record: logging.LogRecord) -> bool:
    """Leave out requests that end because Ctrl-C was pressed a second time: it was meant."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, asyncio.CancelledError)


def listen(port: int) -> socket.socket:
    """Return a socket on loopback; port 0 takes any that is free."""
    if not 0 <= port <= 65535:
        raise ConfigError(f"port must lie between 0 and 65535, found {port}")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise ConfigError(f"cannot listen on port {port}: {error.strerror}; take another") from None
    listener.listen(128)
    return listener
