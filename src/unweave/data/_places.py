"""Where original files are said to be; read in public code and data cards, none tried by us."""

from dataclasses import dataclass

from unweave import catalog
from unweave.errors import ConfigError


@dataclass(frozen=True)
class Place:
    """One file, or the page that leads to it."""

    address: str
    md5: str = ""
    """What public projects record of the file, where they agree or one does."""


HUGGING_FACE = "https://huggingface.co/datasets"
GOOGLE = "https://storage.googleapis.com"
MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
FASHION = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"
NORB = f"{HUGGING_FACE}/randall-lab/small-norb/resolve/main"
MPI3D = f"{GOOGLE}/disentanglement_dataset/Final_Dataset"

PLACES: dict[str, tuple[Place, ...]] = {
    "cars3d": (Place("http://www.scottreed.info/files/nips2015-analogy-data.tar.gz"),),
    "celeba": (Place("https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"),),
    "chairs3d": (
        Place("https://www.di.ens.fr/willow/research/seeing3Dchairs/data/rendered_chairs.tar"),
    ),
    "dsprites": (
        Place(
            "https://github.com/google-deepmind/dsprites-dataset/raw/master/"
            "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
        ),
    ),
    "fashion_mnist": (
        Place(f"{FASHION}/train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        Place(f"{FASHION}/train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        Place(f"{FASHION}/t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        Place(f"{FASHION}/t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ),
    "mnist": (
        Place(f"{MNIST}/train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        Place(f"{MNIST}/train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        Place(f"{MNIST}/t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        Place(f"{MNIST}/t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
    "mpi3d": (
        Place(f"{MPI3D}/mpi3d_realistic.npz", "59a6225b88b635365f70c91b3e52f70f"),
        Place(f"{MPI3D}/mpi3d_real.npz", "0f33f609918fb5c97996692f91129802"),
        Place(f"{HUGGING_FACE}/waleedgondal/mpi3d/resolve/main/mpi3d_toy.npz"),
        Place(f"{HUGGING_FACE}/waleedgondal/mpi3d/resolve/main/mpi3d_real.npz"),
    ),
    "shapes3d": (
        Place(f"{GOOGLE}/3d-shapes/3dshapes.h5", "099a2078d58cec4daad0702c55d06868"),
        Place(f"{HUGGING_FACE}/randall-lab/shapes3d/resolve/main/shapes3d.npz"),
    ),
    "smallnorb": (
        Place("https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/"),
        Place(f"{NORB}/smallnorb-train.zip"),
        Place(f"{NORB}/smallnorb-test.zip"),
    ),
    "yale_b": (Place("http://vision.ucsd.edu/extyaleb/CroppedYaleBZip/CroppedYale.zip"),),
}


def known_places(name: str) -> tuple[Place, ...]:
    """Return where the originals of a set are said to be."""
    catalog.check_name(name, catalog.names("unweave.data"), "data set")
    if name not in PLACES:
        raise ConfigError(f"{name} is made on this machine and has no original files")
    return PLACES[name]
