"""Turn the results that acceptance runs kept into docs/results/acceptance.md."""

import json
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAD = """# Acceptance

What each method must show on small data, and what it showed in its latest run.
`make acceptance` runs all rules and renews this page; a rule that is not listed has
not been run. Written on {date}; R is the reconstruction term and KL the rate, in
nats per image; full-data values are over all 1,024 images of `toy_xys`.

| method | rule | measured | met | minutes | command |
|---|---|---|---|---|---|
"""


def main() -> None:
    results = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "build" / "acceptance").glob("*.json"))
    ]
    lines = []
    for result in results:
        measured = "; ".join(
            f"{name} {_words(value)}" for name, value in result["measured"].items()
        )
        lines.append(
            f"| {result['method']} | {result['rule']} | {measured} | "
            f"{'yes' if result['met'] else '**no**'} | {result['minutes']} | "
            f"`{result['command']}` |"
        )
    text = HEAD.format(date=datetime.now(UTC).date()) + "\n".join(lines) + "\n"
    (ROOT / "docs" / "results" / "acceptance.md").write_text(text, encoding="utf-8")
    print(text)


def _words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_words(v) for v in value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
