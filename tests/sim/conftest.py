"""The mark of the few tests in which real time passes."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow_real_time: takes about a second of real time, the only ones that do.")
