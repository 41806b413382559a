"""Location privacy: cloaking, perturbation and clients."""
