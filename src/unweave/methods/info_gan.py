"""InfoGAN: a generator whose codes a second head of the discriminator can read back.

X. Chen et al., "InfoGAN: Interpretable Representation Learning by Information
Maximizing Generative Adversarial Nets", NeurIPS 2016, arXiv:1606.03657, eq. (6).
With noise z, codes c, generator G, judge D and code head Q on one trunk:

    discriminator   -E log D(x) - E log(1 - D(G(z, c))) - λ L
    generator       -E log D(G(z, c)) - λ L
    L               E log Q(c|G(z, c)) + H(c), a lower bound of the information I(c; G(z, c))

Q sees generated images only. A categorical code has a softmax, a continuous one,
uniform on [-1, 1], a Gaussian of variance 1 around the head's output. λ = 0 is a
GAN. There is no encoder: the code of an image is what Q reads in it, although Q
was trained on generated ones. One code and one fixed noise make one image.

Differs from the paper: trunk and generator are the run's architecture, the
generator with batch normalisation as in the paper, the trunk with spectral
normalisation, as InfoGAN-CR has it (arXiv:1906.06034). With batch normalisation in
it the trunk would tell a batch of images from a batch of fakes by its statistics. The
generator begins as bright as the data. Noise on what the discriminator sees, a judge that
sees the spread of a batch and running averages are not in the paper and are off unless asked
for; docs/results/generators.md shows what each is worth where the class dominates.

Use it to generate images that codes steer, kinds and amounts, from images alone. Not if given
images need codes that rebuild them, and not without looking at samples of several seeds.
"""

from dataclasses import dataclass

from unweave.methods._code_gan import CodeGAN


@dataclass(frozen=True, kw_only=True)
class InfoGAN(CodeGAN):
    pass
