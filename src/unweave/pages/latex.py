"""Tables as LaTeX takes them."""

from collections.abc import Sequence

SPECIAL = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "–": "--",
    "−": "$-$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "²": "$^2$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "…": r"\ldots{}",
}
"""What LaTeX takes for a command, or its usual letters lack."""


def latex_text(text: str) -> str:
    """Write what LaTeX would take for a command as the character itself."""
    return "".join(SPECIAL.get(character, character) for character in text)


def latex_table(
    header: Sequence[str], lines: Sequence[Sequence[str]], columns: str = "", note: str = ""
) -> str:
    r"""Return a tabular ruled by the package booktabs, with a note below the rule if there is one.

    Cells and note are LaTeX already.
    """
    rows = [r"\begin{tabular}{" + (columns or "l" * len(header)) + "}", r"\toprule"]
    rows += [" & ".join(header) + r" \\", r"\midrule"] if any(header) else []
    rows += [" & ".join(line) + r" \\" for line in lines]
    rows.append(r"\bottomrule")
    if note:
        rows.append(rf"\multicolumn{{{len(header)}}}{{l}}{{\footnotesize {note}}} \\")
    return "\n".join([*rows, r"\end{tabular}"])
