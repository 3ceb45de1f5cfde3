"""Try a rule on seeds of your choice; nothing is kept.

    python tests/acceptance/try_rule.py vae --seeds 0 1 --arms "the method" untrained

Settings and bounds are chosen on seeds 0, 1 and 2: the others are for judging.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import rules
import torch
from rules._rule import columns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rule", choices=rules.names())
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--arms", nargs="+", help="arms to measure; by default all of them")
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    rule = rules.named(wanted.rule)
    found = {}
    for arm in wanted.arms or rule.arms:
        began = time.process_time()
        findings = [rule.arms[arm](seed).numbers for seed in wanted.seeds]
        found[arm] = columns(findings)
        seconds = (time.process_time() - began) / len(wanted.seeds)
        print(f"{arm} ({seconds:.0f} core seconds a seed)", flush=True)
        for name, values in found[arm].items():
            print(f"    {name:40} {', '.join(f'{value:.4g}' for value in values)}", flush=True)
    if set(rule.references) <= set(found):
        for arm in set(rule.judged) & set(found):
            references = {name: found[name] for name in rule.references}
            print(arm, rule.checks(found[arm], references))


if __name__ == "__main__":
    main()
