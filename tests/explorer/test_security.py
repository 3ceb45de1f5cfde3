"""Only this machine's browser with the token gets an answer, and only about the folder."""

import asyncio
import http.client
import io
import os
import pickle
import shutil
import struct
import zlib
from contextlib import suppress
from typing import ClassVar

import pytest
from explored import TOKEN
from starlette.exceptions import HTTPException

from unweave.explorer import page_files
from unweave.explorer.answers import bounded_body
from unweave.explorer.security import new_token
from unweave.explorer.server import LARGEST_UPLOAD, listen


@pytest.mark.parametrize("path", ["/", "/runs.json", "/page/main.js", "/runs/vae-s0.json", "/none"])
def test_nothing_is_answered_without_the_token(served, path):
    for wrong in ({}, {"authorization": "Bearer wrong"}, {"cookie": f"unweave_{served.port}=no"}):
        status, _, content = served.ask(path, token=False, **wrong)
        assert status == 403
        assert b"token" in content
    assert served.ask(f"{path}?token=wrong", token=False)[0] == 403


def test_a_token_in_the_address_becomes_a_cookie_that_scripts_cannot_read(served):
    status, headers, _ = served.ask(f"/compare?run=a&token={TOKEN}&run=b", token=False)
    assert (status, headers["location"]) == (303, "/compare?run=a&run=b")
    cookie = headers["set-cookie"]
    assert cookie.startswith(f"unweave_{served.port}={TOKEN};")
    assert "httponly" in cookie.lower()
    assert "samesite=lax" in cookie.lower()
    pair = cookie.split(";")[0]
    assert served.ask("/runs.json", token=False, cookie=pair)[0] == 200


def test_no_address_leads_away_from_the_explorer(served):
    _, headers, _ = served.ask(f"//elsewhere.example/?token={TOKEN}", token=False)
    assert headers["location"] == "/elsewhere.example/"


def test_tokens_are_long_and_never_the_same():
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 43  # 256 bits


def test_other_names_of_this_address_are_refused(served):
    for host in ("elsewhere.example", f"elsewhere.example:{served.port}", "127.0.0.1", ""):
        assert served.ask("/runs.json", host=host)[0] == 421
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert served.ask("/runs.json", host=f"{host}:{served.port}")[0] == 200


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", "http://127.0.0.1:1"])
def test_other_origins_are_refused(served, origin):
    assert served.ask("/runs.json", origin=origin)[0] == 403
    body = '{"latent": 0, "name": "x"}'
    assert served.ask("/runs/vae-s0/name", method="POST", body=body, origin=origin)[0] == 403


def test_our_own_origin_is_answered(served):
    assert served.ask("/runs.json", origin=served.address)[0] == 200


def test_a_browser_that_says_another_site_asks_is_refused(served):
    for site in ("cross-site", "same-site"):
        assert served.ask("/runs.json", sec_fetch_site=site, sec_fetch_mode="no-cors")[0] == 403
        link = {"sec_fetch_site": site, "sec_fetch_mode": "navigate"}
        assert served.ask("/", **link)[0] == 200  # a link that was followed
        assert served.ask("/runs/vae-s0/name", method="POST", body="{}", **link)[0] == 403


def test_every_answer_forbids_foreign_scripts_frames_and_guessing_of_types(served):
    for path in ("/", "/runs.json", "/nowhere", "/page/style.css"):
        headers = served.ask(path)[1]
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-inline" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_it_listens_on_loopback_only():
    with listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../outside",
        "%2e%2e/outside",
        "..%2foutside",
        "vae-s0/../../outside",
        "study/../vae-s0",
        "/etc",
        "//etc",
        "vae-s0%00",
        "..%5coutside",
        "link",
        "study",
        ".hidden",
    ],
)
def test_nothing_outside_the_folder_is_served(served, name):
    outside = served.root.parent / "outside"
    if not outside.exists():
        shutil.copytree(served.root / "vae-s0", outside)
        (served.root / "link").symlink_to(outside)
    for rest in (".json", "/status.json", "/latents.json", "/decoder.onnx"):
        status, _, content = served.ask(f"/runs/{name}{rest}")
        assert status == 404, content
    assert "link" not in [run["name"] for run in served.json("/runs.json")["runs"]]


def test_a_file_that_is_a_link_to_the_outside_is_refused(served):
    copy = served.root / "linked"
    shutil.copytree(served.root / "vae-s0", copy)
    try:
        secret = served.root.parent / "secret.json"
        secret.write_text('{"mig": {"value": 0.5}}')
        (copy / "scores.json").symlink_to(secret)
        status, _, content = served.ask("/runs/linked.json")
        assert status == 404
        assert b"link to outside" in content
    finally:
        shutil.rmtree(copy)


@pytest.mark.parametrize("file", ["server.py", "../server.py", "%2e%2e%2fserver.py", "page.html"])
def test_only_files_of_the_page_are_served(served, file):
    assert served.ask(f"/page/{file}")[0] == 404
    assert set(page_files.FILES) >= {"main.js", "style.css", "ort.mjs", "ort.wasm.gz"}


def upload(served, content, **how):
    return served.ask("/runs/vae-s0/encode", method="POST", body=content, **how)


def test_uploads_are_bounded_whatever_their_headers_say(served):
    assert upload(served, b"", content_length=str(LARGEST_UPLOAD + 1))[0] == 413
    parts = (bytes(1_000_000) for _ in range(2 * LARGEST_UPLOAD // 1_000_000))
    # The server may hang up on us in the middle.
    with suppress(BrokenPipeError, ConnectionResetError, http.client.HTTPException):
        assert upload(served, parts, transfer_encoding="chunked")[0] == 413


def test_no_more_of_an_upload_is_held_than_the_limit():
    class Endless:
        headers: ClassVar = {"content-length": "3"}  # not true
        taken = 0

        async def stream(self):
            while True:
                self.taken += 1
                yield bytes(1_000_000)

    request = Endless()
    with pytest.raises(HTTPException) as refused:
        asyncio.run(bounded_body(request, 5_000_000))
    assert refused.value.status_code == 413
    assert request.taken == 6


def test_an_image_that_unpacks_to_gigabytes_is_refused(served):
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    size = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 0, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(bytes(99)))
    status, _, content = upload(served, bomb)
    assert status == 400
    assert b"limit" in content


class Planted:
    """Makes a folder when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


def test_nothing_is_unpickled(served, tmp_path):
    payload = pickle.dumps(Planted(tmp_path / "ran"))
    assert upload(served, payload)[0] == 400
    copy = served.root / "planted"
    shutil.copytree(served.root / "vae-s0", copy)
    try:
        (copy / "networks.safetensors").write_bytes(payload)
        assert served.ask("/runs/planted/latents.json")[0] == 400
        assert not (tmp_path / "ran").exists()
        pickle.load(io.BytesIO(payload))  # the payload does work
        assert (tmp_path / "ran").exists()
    finally:
        shutil.rmtree(copy)
