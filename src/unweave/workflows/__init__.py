"""The main jobs, each a function that a notebook and the command line both call."""

from unweave.workflows.scoring import (
    draw_figures,
    evaluate,
    evaluate_model,
    evaluate_part,
    evaluate_tables,
    load,
    scores_to_json,
    write_report,
)
from unweave.workflows.training import resume, train, train_config

__all__ = [
    "draw_figures",
    "evaluate",
    "evaluate_model",
    "evaluate_part",
    "evaluate_tables",
    "load",
    "resume",
    "scores_to_json",
    "train",
    "train_config",
    "write_report",
]
