"""Structures of variables: how they are written, and what is refused."""

import pytest

from unweave.errors import ConfigError
from unweave.methods._dependencies import columns_among, dependencies, in_order, read_formula

SIZES = {"shape": 3, "side": 5, "angle": 0}


def read(text: str, latent_dim: int = 4):
    formula = read_formula(text)
    return dependencies(formula, columns_among(formula, SIZES), SIZES, latent_dim)


def test_a_text_says_what_is_recognised_in_what_and_made_of_what():
    among = read(
        "q(shape|image, z) q( z[2] | image ) q(s|side[number],shape); q(side|image)"
        " p(s|side) p(image|s,z)"
    )
    assert among.names == ("z", "side", "shape", "s"), "each after what it is recognised in"
    assert [v.kind for v in among.variables] == ["latent", "number", "class", "latent"]
    assert [v.size for v in among.variables] == [2, 1, 3, 4]
    assert among["shape"].seen_in == ("image", "z")
    assert among["s"].made_of == ("side",)
    assert among["side"].values == 5
    assert among.shown == ("s", "z")
    made = [v.name for v in among.made]
    assert made.index("side") < made.index("s")
    assert read("q(z|image) q(angle|image)")["angle"].kind == "number", "it is continuous"
    assert read("q(z|image) q(angle|image)").shown == ("z", "angle"), "all, if not said"


def test_what_a_draw_has_to_do_with_what_is_told():
    among = read("q(z|image) q(shape|image,z) q(t|image,shape) q(r|image) p(r|shape) p(z|t)")
    assert among.seen_through("z") == {"shape", "t"}
    assert among.is_free(among["t"], {"shape"}), "drawn after the label, by it"
    assert among.is_free(among["r"], {"shape"})
    assert not among.is_free(among["z"], {"shape"}), "its draws are weighted by the label"
    assert not among.is_free(among["z"], ()), "it is made of what is recognised in it"
    assert not among.is_free(among["shape"], {"shape"})


def test_classes_are_summed_over_as_long_as_they_are_few_together():
    among = read("q(z|image) q(shape|image) q(side|image,shape)")
    assert [v.name for v in among.summed((), 20)] == ["shape", "side"]
    assert [v.name for v in among.summed((), 14)] == ["shape"]
    assert [v.name for v in among.summed({"shape"}, 14)] == ["side"]
    assert among.summed((), 2) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q(z|image", "is written"),
        ("", "is written"),
        ("z, shape", "is written"),
        ("q(z|image) q(shape|z) and more", "found 'and more'"),
        ("q(z|image) q(z|image) q(shape|z)", r"two q\(z\|…\)"),
        ("q(z|image) q(shape|zz)", r"no q\(zz\|…\)"),
        ("q(z|image) q(shape|z) p(t|z)", r"no q\(t\|…\)"),
        ("q(z|image) q(shape)", "what is shape recognised in"),
        ("q(z|shape) q(shape|z)", "depend on each other"),
        ("q(z|image) q(shape|image) p(z|shape) p(shape|z)", "in the p .* depend on each other"),
        ("q(z|image) q(image|z)", "neither recognised"),
        ("q(z|image) q(shape|z) p(z|image)", "neither recognised"),
        ("q(z|image) q(shape|z[a b])", "a variable is written"),
        ("q(z[0]|image) q(shape|z)", r"1 dimension or more, found z\[0\]"),
        ("q(z|image) q(shape[big]|z)", r"a class or a number, found shape\[big\]"),
        ("q(z|image) q(angle[class]|z)", "continuous and has no classes"),
        ("q(z|image)", "none of the variables"),
        ("q(shape|image)", "no latent"),
        ("q(z|image) q(shap|image)", "a latent 'shap', and the data a column 'shape'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(text, message):
    with pytest.raises(ConfigError, match=message) as error:
        read(text)
    assert "\n" not in str(error.value)


def test_an_order_puts_parents_first():
    assert in_order({"c": ("b",), "a": (), "b": ("a", "image")}, "q") == ("a", "b", "c")
