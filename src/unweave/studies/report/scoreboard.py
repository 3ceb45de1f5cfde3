"""How many published cells we reproduce: one line for each table, from the CSV files kept of it."""

from pathlib import Path

from unweave.errors import ConfigError
from unweave.files.writing import write_atomically
from unweave.studies.define.expansion import expand
from unweave.studies.define.study import read_study, shipped_studies
from unweave.studies.report.published import Mark, cells_of, marks_of
from unweave.studies.report.table import StudyTable, read_csv

TEXT = """# How much of the field's tables we reproduce

One line for each table that `unweave reproduce NAME` does; `unweave reproduce --board FOLDER`
wrote this page from the CSV files beside it, which have one line for each run. A cell is a number
that a paper printed. It is **reproduced** if the median of our seeds lies within the paper's
spread, and **beaten** if it is better than that; what a paper sets its own method apart from, a
baseline, has to be hit from both sides. It has the **direction only** if it stands on the paper's
side of every other cell that the paper sets apart from it. Budgets and protocols are said on each
page; the budgets are a small part of the papers'.

Of {count} published cells: {beaten} beaten, {reproduced} reproduced, {direction} with the direction
only, {missed} not reproduced, {rest} without three runs yet.{aside}

| table | runs done | {marks} |
|---|---|{columns}
{lines}
{others}"""

ASIDE = """
Quoted from memory, and so on their pages for orientation and no cells: {count}."""
COLUMNS: tuple[Mark, ...] = (
    "beaten",
    "reproduced",
    "direction only",
    "not reproduced",
    "too few seeds",
    "not run",
    "for orientation",
)
OTHERS = "Run as well, of papers that print figures and no numbers to mark:"


def write_scoreboard(folder: Path) -> Path:
    """Write README.md into a folder of tables kept as CSV files; return where it is."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; expected the one that tables were written to")
    lines, others, total = [], [], dict.fromkeys(COLUMNS, 0)
    for name in shipped_studies():
        study, file = read_study(name), folder / f"{name}.csv"
        if not study.published:
            if file.is_file():
                shares = 2 * sum(map(len, study.published_variance.values()))
                said = f", with {shares} published shares of the variance" if shares else ""
                others.append(f"- [{study.title}]({name}.md){said}")
            continue
        plan = expand(study)
        table = read_csv(file) if file.is_file() else StudyTable([], [], [])
        counts = marks_of(cells_of(plan, table.done))
        total = {mark: total[mark] + counts[mark] for mark in COLUMNS}
        said = f"[{study.title}]({name}.md)" if file.is_file() else study.title
        cells = " | ".join(str(counts[mark]) for mark in COLUMNS)
        lines.append(f"| {said} | {len(table.done)} of {len(plan.runs)} | {cells} |")
    from_memory = total["for orientation"]
    text = TEXT.format(
        count=sum(total.values()) - from_memory,
        beaten=total["beaten"],
        reproduced=total["reproduced"],
        direction=total["direction only"],
        missed=total["not reproduced"],
        rest=total["too few seeds"] + total["not run"],
        aside=ASIDE.format(count=from_memory) if from_memory else "",
        marks=" | ".join(COLUMNS),
        columns="---|" * len(COLUMNS),
        lines="\n".join(lines),
        others="\n".join(["", OTHERS, "", *others, ""]) if others else "",
    )
    path = folder / "README.md"
    write_atomically(path, text)
    return path
