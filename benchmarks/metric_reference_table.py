"""Score the standard representations and write the table into docs/metrics.md.

python benchmarks/metric_reference_table.py [--print]
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "metrics"))

from representations import NAMES, representation  # noqa: E402

from marked_pages import renew  # noqa: E402
from unweave import metrics  # noqa: E402

COLUMNS = (
    "beta_vae_score",
    "factor_vae_score",
    "mig",
    "mig_sup",
    "dcimig",
    "jemmig",
    "modularity",
    "explicitness",
    "sap",
    "irs",
    "mcc",
    "gaussian_total_correlation",
)
HEADS = {
    "beta_vae_score": "β-VAE",
    "factor_vae_score": "FactorVAE",
    "mig": "MIG",
    "mig_sup": "MIG-sup",
    "dcimig": "DCIMIG",
    "jemmig": "JEMMIG",
    "modularity": "Modul.",
    "explicitness": "Explic.",
    "sap": "SAP",
    "irs": "IRS",
    "mcc": "MCC",
    "gaussian_total_correlation": "Gauss TC",
}


def table() -> str:
    """Return the table as Markdown."""
    heads = [HEADS[name] for name in COLUMNS] + ["DCI D", "DCI C", "DCI I"]
    heads += ["InfoM", "InfoC", "InfoE"]
    lines = ["| codes | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for name in NAMES:
        given = representation(name, 15_000)
        cells = []
        for metric in COLUMNS:
            cells.append(getattr(metrics, metric)(given.codes, given.factors).value)
        dci = metrics.dci(given.codes, given.factors, train_rows=1_000, test_rows=500).details
        cells += [dci["disentanglement"], dci["completeness"], dci["informativeness"]]
        info = metrics.infomec(given.codes, given.factors).details
        cells += [info["modularity"], info["compactness"], info["explicitness"]]
        lines.append(f"| {name} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", help="print instead of writing")
    made = table()
    if parser.parse_args().print:
        print(made)
        return
    renew(ROOT / "docs" / "metrics.md", {"representations": made})


if __name__ == "__main__":
    main()
