"""How many published cells we reproduce: one line for each table, from the CSV files kept of it."""

from pathlib import Path

from unweave.errors import ConfigError
from unweave.files.writing import write_atomically
from unweave.studies.define.expansion import expand
from unweave.studies.define.study import read_study, shipped_studies
from unweave.studies.report.published import MARKS, cells_of, marks_of
from unweave.studies.report.table import StudyTable, read_csv

TEXT = """# How much of the field's tables we reproduce

One line for each table that `unweave reproduce NAME` does; `unweave reproduce --board FOLDER`
wrote this page from the CSV files beside it, which have one line for each run. A cell is a number
that a paper printed. It is **reproduced** if the median of our seeds lies within the paper's
spread or is better (of a baseline: within it); it has the **direction only** if it stands on the
paper's side of every other cell that the paper sets apart from it. Budgets are said on each page
and are a small part of the papers'.

Of {count} published cells {reproduced} are reproduced, {direction} have the direction only,
{missed} are not reproduced, and {rest} have no three runs yet.

| table | runs done | {marks} |
|---|---|{columns}
{lines}
{others}"""

OTHERS = "Run as well, of papers that print figures and no numbers to mark:"


def write_scoreboard(folder: Path) -> Path:
    """Write README.md into a folder of tables kept as CSV files; return where it is."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; expected the one that tables were written to")
    lines, others, total = [], [], dict.fromkeys(MARKS, 0)
    for name in shipped_studies():
        study, file = read_study(name), folder / f"{name}.csv"
        if not study.published:
            if file.is_file():
                others.append(f"- [{study.title}]({name}.md)")
            continue
        plan = expand(study)
        table = read_csv(file) if file.is_file() else StudyTable([], [], [])
        counts = marks_of(cells_of(plan, table.done))
        total = {mark: total[mark] + counts[mark] for mark in MARKS}
        said = f"[{study.title}]({name}.md)" if file.is_file() else study.title
        cells = " | ".join(str(counts[mark]) for mark in MARKS)
        lines.append(f"| {said} | {len(table.done)} of {len(plan.runs)} | {cells} |")
    text = TEXT.format(
        count=sum(total.values()),
        reproduced=total["reproduced"],
        direction=total["direction only"],
        missed=total["not reproduced"],
        rest=total["too few seeds"] + total["not run"],
        marks=" | ".join(MARKS),
        columns="---|" * len(MARKS),
        lines="\n".join(lines),
        others="\n".join(["", OTHERS, "", *others, ""]) if others else "",
    )
    path = folder / "README.md"
    write_atomically(path, text)
    return path
