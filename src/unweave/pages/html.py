"""Markup that escapes what it is given."""

import base64
from html import escape
from typing import Any


class Html(str):
    """Text that is markup already; any other text is escaped."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element; `class_` is the attribute class, None leaves an attribute out."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in ("img", "meta", "br"):
        return Html(f"<{name}{words}>")
    return Html(f"<{name}{words}>{join(*children)}</{name}>")


def join(*children: Any) -> Html:
    """Put parts one after the other; lists are joined too, None is nothing."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, list | tuple):
            parts.append(join(*child))
        else:
            parts.append(child if isinstance(child, Html) else escape(str(child)))
    return Html("".join(parts))


def data_url(content: bytes, kind: str) -> str:
    """Return a file's content as an address that needs no network."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
