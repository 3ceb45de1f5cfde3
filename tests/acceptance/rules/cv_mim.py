"""CV-MIM: what a probe learns of contents in one view holds in the others."""

from rules._measures import of_the_factors, scatter
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import all_images, judged_on, shuffled, squares, train, untrained
from unweave.data import FactorImages
from unweave.evaluation.cross_view import probe_views
from unweave.methods.cv_mim import CVMIM
from unweave.runs.run import Run

STEPS = 900
# Pose and view are to tell their image, but hardly: else the pose tells some of the view as well.
SETTINGS = {
    "latent_dim": 8,
    "view": ("x",),
    "information_weight": 0.03,
    "disentangling_weight": 2,
    "width": 128,
}


def finding(run: Run) -> Finding:
    run = judged_on(run, squares())
    codes, factors = run.encode(all_images(squares())), squares().factors()
    pose, view = (codes[:, run.code.roles[role]] for role in ("content", "style"))
    probe = probe_views(run, "x", "side")
    of_poses, of_views = of_the_factors(pose, factors), of_the_factors(view, factors)
    numbers = {
        "side in other views, from poses": probe.others("content"),
        "side in other views, from pixels": probe.others("pixels"),
        "R² of x from poses": of_poses[0],
        "R² of x from views": of_views[0],
        "R² of y from poses": of_poses[1],
        "R² of y from views": of_views[1],
    }
    return Finding(numbers, scatter(pose, factors[:, 2]))


def trained(seed: int, data: FactorImages | None = None, **changes: float) -> Finding:
    method = CVMIM(**SETTINGS | changes)
    return finding(train(method, data=data, seed=seed, steps=STEPS, batch_size=192))


def checks(own: Columns, others: object) -> Checks:
    poses, pixels = (own[f"side in other views, from {what}"] for what in ("poses", "pixels"))
    return {
        "side in other views > 0.75": bool(poses.min() > 0.75),
        "by 0.2 above pixels": bool((poses > pixels + 0.2).all()),
        "x from poses, R² < 0.7": bool(own["R² of x from poses"].max() < 0.7),
        "x from views, R² > 0.6": bool(own["R² of x from views"].min() > 0.6),
        "y from poses, R² > 0.9": bool(own["R² of y from poses"].min() > 0.9),
    }


SABOTEURS: dict[str, Measure] = {
    "views of different contents": lambda seed: trained(seed, shuffled(squares(), seed)),
    "poses not compared across views": lambda seed: trained(seed, view_weight=0),
    "views free to tell of poses": lambda seed: trained(seed, disentangling_weight=0),
    "untrained": lambda seed: finding(untrained(CVMIM(**SETTINGS), seed=seed)),
}
RULE = Rule(
    covers=("cv_mim",),
    claim="squares whose view is x, each seed: a linear probe of the pose that has seen a quarter "
    "of the views names the side in the others right in more than 75 %, and by 20 points more "
    "often than one of pixels; a forest finds x in the pose with R² < 0.7, in the view with "
    "R² > 0.6, and y in the pose with R² > 0.9",
    method=trained,
    saboteurs=SABOTEURS,
    checks=checks,
    picture="Poses of all images, first two dimensions; the colour is the side.",
)
