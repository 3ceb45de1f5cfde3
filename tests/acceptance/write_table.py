"""Turn the results that acceptance runs kept into docs/results/acceptance.md."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HEAD = """# Acceptance

What each method must show on small data, and what it showed in its latest run.
`make acceptance` runs the rules, two at a time, and renews this page; a rule that is not
listed has not been run. Several values are those of several seeds unless they are named. R is
the reconstruction term and KL the rate, in nats per image; full-data values are over all
1,024 images of `toy_xys`. Minutes are those of one core.

{met} of {count} rules are met. They took {minutes:.0f} core minutes in all, {half:.0f} minutes on
two cores.{unmet}

| file | rules | core minutes |
|---|---|---|
{files}

| method | rule | measured | met | core minutes | date | command |
|---|---|---|---|---|---|---|
{rows}
"""


def main() -> None:
    kept = sorted((ROOT / "build" / "acceptance").glob("*.json"))
    results = [json.loads(path.read_text(encoding="utf-8")) for path in kept]
    text = page(results)
    (ROOT / "docs" / "results" / "acceptance.md").write_text(text, encoding="utf-8")
    print(text)


def page(results: list[dict[str, Any]]) -> str:
    """Return the page of all results."""
    files: dict[str, list[float]] = {}
    for result in results:
        file = result["command"].split("tests/acceptance/")[1].split("::")[0]
        files.setdefault(file, []).append(result["core_minutes"])
    minutes = sum(sum(each) for each in files.values())
    unmet = [result["method"] for result in results if not result["met"]]
    return HEAD.format(
        met=len(results) - len(unmet),
        count=len(results),
        minutes=minutes,
        half=minutes / 2,
        unmet=f" Not met: {', '.join(unmet)}." if unmet else "",
        files="\n".join(
            f"| `{file}` | {len(each)} | {sum(each):.1f} |" for file, each in files.items()
        ),
        rows="\n".join(_row(result) for result in results),
    )


def _row(result: dict[str, Any]) -> str:
    measured = "; ".join(f"{name} {_words(value)}" for name, value in result["measured"].items())
    return (
        f"| {result['method']} | {result['rule']} | {measured} | "
        f"{'yes' if result['met'] else '**no**'} | {result['core_minutes']:.1f} | "
        f"{result['date']} | `{result['command']}` |"
    )


def _words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_words(v) for v in value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
