"""Settings of the whole suite."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Machines are noisy: no test may fail for being slow. In CI the same examples come each time.
settings.register_profile(
    "suite", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")
