"""AAE for clustering: a code of one cluster among many, and a style.

A. Makhzani et al., "Adversarial Autoencoders", 2015, arXiv:1511.05644, section 5.
The encoder puts out logits, from which a cluster y is drawn, and a style z; the
decoder sees both. Two discriminators match them to a uniform one-hot and N(0, I):

    autoencoder      E[-log p(x|y, z)] - w E log D_y(y) - w E log D_z(z) - v I(x; y)
    discriminators   -E log D(prior) - E log(1 - D(code)), for y and for z

The code given to metrics is the probabilities of the clusters, and z.

Differs from the paper: reconstruction and generator phases are one update of
their weighted sum, as in `aae`, and y is drawn by Gumbel-softmax instead of being
a softmax, which collapses to one cluster. D_y then sees one-hots however uncertain q(y|x)
is, and its match alone left half of log 16 nats undecided on small images. So the information
I(x; y) = H(E q(y|x)) - E H(q(y|x)) of a batch is raised too, as A. Krause et al. do ("RIM",
NeurIPS 2010); v = 0 is without it.

Use it if kinds of images that nobody named are wanted together with a style. Not if clusters are
all that is wanted, where k-means is simpler and, of pixels of our small images, was not far
behind; and not without looking at every cluster.
"""

from dataclasses import dataclass

from unweave.methods._cluster_style import ClusteringAutoencoder


@dataclass(frozen=True, kw_only=True)
class AAEClustering(ClusteringAutoencoder):
    main_knob = "clusters"
