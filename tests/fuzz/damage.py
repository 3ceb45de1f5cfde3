"""Ways to spoil a file: bytes, words, and values of JSON."""

import copy
import json
import random
from typing import Any

WORDS = (
    "-1", "0", "1", "1e9", "1e400", "-1e400", "nan", "inf", "NaN", "1" + "0" * 30, "9" * 5000,
    "true", "null", "", " ", "\n", "\x00", "\x1b[31m", "[red]", "[/red]", "\ud800", "é", "日本",
    "..", "/", "/etc", "~", "a" * 300, "a" * 70_000, "[" * 2000, "{" * 2000, '"', "'", '"""', "#",
    ",", ";", "\t", "=", "a.b", "." * 50, "0:4:100", "1:2:3:4:5:6", "auto", "default", "all",
    "beta_vae", "semi_supervised+vae", "vae+vae", "toy_xys", "toy_xys:x", "dsprites:/etc/passwd",
    "x>0.5", "shape=square,x>0.5", "x~y:0.1", "x~x:line:1", "%s%n", "${HOME}", "$(id)", "-", "--",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, -(10**30), 0.5, -0.0, 1e308, float("nan"),
    float("inf"), "", "x", "a" * 1000, "\x1b[31m", "/etc", [], [1], [[1], [2, 3]], ["x"], {},
    {"a": 1}, {"name": "vae"}, {"name": 3}, {"": ""}, [None], [1e400], {"value": 1},
)  # fmt: skip


def bytes_spoilt(content: bytes, rng: random.Random) -> bytes:
    """Change, cut, repeat or insert some bytes."""
    out = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        place = rng.randrange(len(out) + 1)
        way = rng.randrange(7)
        if way == 0 and out:
            out[place % len(out)] = rng.randrange(256)
        elif way == 1 and out:
            out[place % len(out)] ^= 1 << rng.randrange(8)
        elif way == 2:
            del out[place : place + rng.choice((1, 3, 30, 1000))]
        elif way == 3:
            out[place:place] = out[place : place + rng.choice((1, 10, 200))] * rng.choice((1, 3))
        elif way == 4:
            out[place:place] = rng.choice(WORDS).encode("utf-8", "surrogatepass")
        elif way == 5:
            out[place : place + 4] = rng.choice((b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"))
        else:
            out = out[:place]
    return bytes(out)


def text_spoilt(text: str, rng: random.Random) -> bytes:
    """Put odd words in the place of words."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(lines))
        words = lines[at].split(" ") if rng.random() < 0.5 else lines[at].split(",")
        joint = " " if " " in lines[at] and words != lines[at].split(",") else ","
        words[rng.randrange(len(words))] = rng.choice(WORDS)
        lines[at] = joint.join(words)
        if rng.random() < 0.2:
            lines.insert(at, rng.choice(lines))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def json_spoilt(content: Any, rng: random.Random) -> Any:
    """Put odd values in the place of values, anywhere in a table."""
    content = copy.deepcopy(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        holder, key = _place(content, rng)
        if holder is None:
            return rng.choice(VALUES)
        way = rng.randrange(6)
        if way == 0:
            del holder[key]
        elif way == 1 and isinstance(holder, dict):
            holder[rng.choice(("", "name", "x" * 400, "data", "\x1b[31m"))] = rng.choice(VALUES)
        elif way == 2 and isinstance(holder, list):
            holder.append(rng.choice(VALUES))
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
    return content


def _place(content: Any, rng: random.Random) -> tuple[Any, Any]:
    """Choose an entry of nested tables and lists."""
    holder, key = None, None
    while isinstance(content, dict | list) and content:
        if holder is not None and rng.random() < 0.3:
            break
        holder = content
        key = (
            rng.choice(list(content)) if isinstance(content, dict) else rng.randrange(len(content))
        )
        content = holder[key]
    return holder, key


def json_text(content: Any) -> bytes:
    return json.dumps(content).encode("utf-8", "surrogatepass")
