"""Modules import downwards only."""

import ast
from pathlib import Path

import pytest

import unweave

ROOT = Path(unweave.__file__).parent

# Lowest first. A module may import modules of lower layers, and those of its own
# folder; alone files share a layer only with what they do not need.
LAYERS = [
    {"errors"},
    {"deprecation"},
    {
        "catalog",
        "tensors",
        "tables",
        "files",
        "pages",
        "process",
        "free_cores",
        "row_groups",
        "row_sums",
        "code_prior",
        "wide_products",
    },
    {"settings", "devices", "correlation", "examples"},
    {"probability", "data", "metrics"},
    {"networks", "batches"},
    {"methods"},
    {"runs"},
    {"training", "evaluation", "views"},
    {"figures"},
    {"editing"},
    {"applications", "advice"},
    {"watchers", "report", "explorer"},
    {"recipes"},
    {"workflows", "automatic", "estimator", "doctor", "hub"},
    {"studies"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# Heavy or optional packages, and the only places that may import them.
ONLY_IN = {
    "tyro": ("cli",),
    "h5py": ("data",),
    "tensorboardX": ("watchers",),
    "mlflow": ("watchers",),
    "wandb": ("watchers",),
    "huggingface_hub": ("hub",),
    "lightgbm": ("metrics",),
    "ray": ("studies",),
    "starlette": ("explorer",),
    "uvicorn": ("explorer",),
    "onnx": ("explorer",),
    "onnxruntime": ("runs",),
}
NEVER_IN = {"torch": ("metrics", "tables", "correlation", "row_groups")}


def modules():
    return sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))


def unit_of(path: Path) -> str:
    """Return the folder or single file a module belongs to."""
    return path.parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Return the dotted names a module imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            found.add(node.module)
            if node.module == "unweave":
                found |= {f"unweave.{alias.name}" for alias in node.names}
    return found


def names_imported(path: Path) -> set[str]:
    """Return the dotted names of what a module imports from others, as far as they go."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found | imported(path)


@pytest.mark.parametrize("path", modules(), ids=str)
def test_imports_go_downwards(path: Path):
    unit = unit_of(path)
    if unit == "__init__":
        return  # the package's front door names what is behind it
    assert unit in LEVEL, f"give {unit} a layer"
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "unweave" or len(parts) == 1:
            continue
        other = parts[1]
        assert other == unit or LEVEL[other] < LEVEL[unit], f"{path} imports {name}, not below it"


@pytest.mark.parametrize("path", modules(), ids=str)
def test_what_has_an_underscore_is_imported_in_its_own_folder_only(path: Path):
    here = path.parts[:-1]
    for name in names_imported(path):
        parts = name.split(".")[1:]
        private = next((i for i, part in enumerate(parts) if part.startswith("_")), None)
        if name.startswith("unweave.") and private is not None:
            assert here[:private] == tuple(parts[:private]), f"{path} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=str)
def test_heavy_packages_stay_in_their_place(path: Path):
    packages = {name.split(".")[0] for name in imported(path)}
    unit = unit_of(path)
    for package, places in ONLY_IN.items():
        assert package not in packages or unit in places, f"{path} imports {package}"
    for package, places in NEVER_IN.items():
        assert package not in packages or unit not in places, f"{path} imports {package}"


def test_every_catalog_entry_leaves_the_other_entries_alone():
    """An entry imports underscore files of its folder, never another entry."""
    for folder in ("methods", "metrics", "data", "networks"):
        entries = {p.stem for p in (ROOT / folder).glob("*.py") if not p.stem.startswith("_")}
        for entry in entries:
            for name in imported(Path(folder) / f"{entry}.py"):
                parts = name.split(".")
                borrowed = parts[:2] == ["unweave", folder] and len(parts) > 2
                assert not (borrowed and parts[2] in entries - {entry}), f"{entry} imports {name}"
