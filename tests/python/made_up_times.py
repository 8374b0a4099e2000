"""A stand-in for `benchmarking.measure` whose times follow a formula, for the tests of sweeps."""

from types import SimpleNamespace

import numpy as np


class MadeUp:
    """``model(work, args, scope, where)`` gives the seconds of a call; samples scatter around it, and the whole of a
    call drifts. Equal seeds give equal samples.
    """

    def __init__(self, model, noise=0.03, drift=0.02, seed=0, count=20):
        self.model, self.noise, self.drift, self.count = model, noise, drift, count
        self.rng, self.calls = np.random.default_rng(seed), []

    def __call__(self, work, *args, scopes, where, policy, outputs=None):
        self.calls.append((args, scopes, where))
        found = SimpleNamespace(device=None, end_to_end=None, submission=None)
        for scope in scopes:
            centre = self.model(work, args, scope, where) * np.exp(self.rng.normal(0, self.drift))
            samples = centre * np.exp(self.rng.normal(0, self.noise, self.count))
            setattr(found, scope, SimpleNamespace(samples_s=samples, converged=True))
        return found
