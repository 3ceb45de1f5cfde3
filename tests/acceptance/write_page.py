"""Turn what rules measured into docs/results/acceptance.md and its pictures."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import rules
from rules import METHOD, SEEDS

from unweave.files.writing import write_atomically

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results" / "acceptance.md"
PICTURES = PAGE.parent / "acceptance"
NUMBERS = "Numbers"
"""In a picture's metadata, which numbers were measured with what it shows."""
Found = dict[str, list[dict[str, Any]]]
"""What is kept of each arm, by seed."""
HEAD = """# Acceptance

What each method must show on small data, and what broken versions of it must not show.
A rule has a claim, made of checks on numbers; the same checks are applied to the method and to
its **saboteurs**, each broken in a way that the rule is there to notice: a term of the loss off,
its gradient cut, networks that were never trained, labels shuffled, pairs that share nothing. A
rule is met if the method passes and **every saboteur fails**; a rule that a broken method passes
counts as not met. A saboteur fails if it does so over all seeds and on most of them alone: one bad
draw is not what a rule is there to notice.

`make acceptance` measures what is missing, two rules at a time, and renews this page. Numbers are
kept by rule, arm and seed beside this page, with a digest of the code that each depends on, so a
stopped run goes on where it was. Once the code of a rule has changed, one seed of each arm is
measured again, and the others too unless every number comes out as it was to the last digit;
until then the page marks it. Every number is given for the seeds {seeds}, in this order;
settings and bounds were chosen on seeds 0, 1 and 2. A rule that was changed after numbers of these
had been seen is judged on others, which it names with what was changed: {reformed}.{seen}
R is the reconstruction term and KL the rate, in nats per image. Minutes are those of one core.

Of {count} rules {measured} are measured, {current} of them with the code as it is, and {met} are
met. Measuring took {minutes:.0f} core minutes; two cores need half as long.{unmet}{missing}

| rule | the method | its saboteurs | core minutes |
|---|---|---|---|
{summary}

"""


def main() -> None:
    text = page()
    write_atomically(PAGE, text)
    print(text)


def page() -> str:
    """Return the page of all rules, drawing their pictures."""
    lines, sections, minutes = [], [], 0.0
    met, current, unmet, missing = 0, 0, [], []
    reformed = {name: rules.named(name) for name in rules.names() if rules.named(name).reformed}
    seen = in_code(name for name, rule in reformed.items() if rule.seen)
    for name in rules.names():
        verdict, found = rules.verdict_of_kept(name)
        spent = sum(each["core_seconds"] for of in found.values() for each in of) / 60
        minutes += spent
        if verdict is None:
            missing.append(name)
            lines.append(f"| {name} | not measured | not measured | {spent:.1f} |")
            continue
        met += verdict.met
        as_it_is = rules.is_current(name, found)
        current += as_it_is
        if not verdict.met:
            unmet.append(f"`{name}` ({verdict})")
        of_method = "passes" if verdict.method_passes else "**fails**"
        of_saboteurs = f"all {len(rules.named(name).saboteurs)} fail"
        if verdict.passing_saboteurs:
            of_saboteurs = f"**passed by:** {'; '.join(verdict.passing_saboteurs)}"
        of_method += "" if as_it_is else " (measured with older code)"
        lines.append(f"| [{name}](#{name}) | {of_method} | {of_saboteurs} | {spent:.1f} |")
        sections.append(section(name, verdict, found))
    return HEAD.format(
        seeds=in_words(SEEDS),
        reformed=in_code(name for name, rule in reformed.items() if not rule.seen) or "none yet",
        seen=f" Changed so, but judged on seeds that had been seen: {seen}." if seen else "",
        met=met,
        current=current,
        count=len(rules.names()),
        measured=len(sections),
        minutes=minutes,
        unmet=f" **Not met:** {'; '.join(unmet)}." if unmet else "",
        missing=f" **Not measured:** {', '.join(missing)}." if missing else "",
        summary="\n".join(lines),
    ) + "\n".join(sections)


def section(name: str, verdict: rules.Verdict, found: Found) -> str:
    """Return what there is to say of one rule."""
    rule = rules.named(name)
    rows = "\n".join(row(arm, found[arm], role(rule, verdict, arm)) for arm in rule.arms)
    dates = {each["date"] for of in found.values() for each in of}
    picture = draw(name, rule, found)
    seed = f"Seed {rule.seeds[0]}" + ("" if is_of(picture, rule, found) else ", of earlier numbers")
    shown = (
        f"\n{rule.picture} {seed}.\n\n![{name}: the method beside its saboteurs]"
        f"(acceptance/{picture.name})\n"
        if picture
        else ""
    )
    told = f"**Seeds {in_words(rule.seeds)}**{', which had been seen' if rule.seen else ''}. "
    reformed = f"{told}{rule.reformed}\n\n" if rule.reformed else ""
    return (
        f"## {name}\n\n{rule.claim[0].upper()}{rule.claim[1:]}.\n\n{reformed}"
        f"| arm | measured | verdict |\n|---|---|---|\n{rows}\n\n"
        f"Measured on {max(dates)}: `pytest -m acceptance tests/acceptance -k {name}`\n{shown}"
    )


def role(rule: rules.Rule, verdict: rules.Verdict, arm: str) -> str:
    """Say whether an arm passes, or why it is there."""
    if arm not in verdict.checks:
        return "for comparison" if arm in rule.references else "told, not judged"
    failed = [part for part, holds in verdict.checks[arm].items() if not holds]
    if arm == METHOD:
        return f"**fails: {'; '.join(failed)}**" if failed else "passes"
    of_seeds = f"{verdict.failing(arm)} of {len(verdict.alone[arm])} seeds alone"
    if verdict.fails(arm):
        return f"fails ({of_seeds}): {'; '.join(failed)}"
    over_all = f"fails over all: {'; '.join(failed)}" if failed else "passes over all"
    return f"**passes**: fails on {of_seeds}, {over_all}"


def row(arm: str, found: list[dict[str, Any]], role: str) -> str:
    names = found[0]["numbers"]
    measured = "; ".join(
        f"{name} {', '.join(words(each['numbers'][name]) for each in found)}" for name in names
    )
    return f"| {arm} | {measured} | {role} |"


def words(value: float) -> str:
    return f"{value:.0f}" if abs(value) < 1e6 and value == round(value) else f"{value:.3g}"


def in_words(seeds: tuple[int, ...]) -> str:
    return ", ".join(map(str, seeds))


def in_code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def drawn_of(rule: rules.Rule, found: Found) -> str:
    """Return a digest of the numbers beside which a picture may stand."""
    return rules.digest_of({arm: found[arm][0]["numbers"] for arm in rule.judged})


def is_of(picture: Path | None, rule: rules.Rule, found: Found) -> bool:
    """Whether a picture was drawn when the numbers were those that the page gives."""
    from PIL import Image

    if picture is None:
        return True
    with Image.open(picture) as image:
        return image.info.get(NUMBERS) == drawn_of(rule, found)


def draw(name: str, rule: rules.Rule, found: Found) -> Path | None:
    """Draw the method beside its saboteurs; None if there is nothing to look at."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    kept = rules.Kept(name)
    looks = {arm: kept.look(arm, rule.seeds[0]) for arm in rule.judged}
    looks = {arm: look for arm, look in looks.items() if look}
    place = PICTURES / f"{name}.png"
    if set(looks) != set(rule.judged):  # nothing to show, or drawn on another machine
        return place if place.is_file() else None
    figure, axes = pyplot.subplots(
        1, len(looks), figsize=(3.2 * len(looks), 3.4), squeeze=False, layout="constrained"
    )
    for axis, (arm, look) in zip(axes[0], looks.items(), strict=True):
        axis.set_title(arm, fontsize=8, color="black" if arm == METHOD else "firebrick")
        axis.set_xticks([])
        axis.set_yticks([])
        if "images" in look:
            axis.imshow(tiled(look["images"]), cmap="gray", vmin=0, vmax=1)
        else:
            points = look["points"]
            axis.scatter(*points.T, c=look["color"], s=2, cmap="viridis", linewidths=0)
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(place, dpi=80, metadata={"Software": "", NUMBERS: drawn_of(rule, found)})
    pyplot.close(figure)
    return place


def tiled(images: np.ndarray) -> np.ndarray:
    """Put images (row, column, height, width) side by side, with a grey line between them."""
    rows, columns, height, width = images.shape
    padded = np.full((rows, columns, height + 1, width + 1), 0.5)
    padded[:, :, :height, :width] = images
    return padded.transpose(0, 2, 1, 3).reshape(rows * (height + 1), columns * (width + 1))


if __name__ == "__main__":
    main()
