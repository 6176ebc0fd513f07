"""The search on a cluster: dask.distributed gives an executor like any other. Here the cluster is this machine."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.explore import search

pytestmark = [  # what dask and tornado say of themselves while they come up and go down is none of ours
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def test_a_cluster_finds_what_one_process_finds() -> None:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is a development dependency")
    given: dict[str, Any] = {"faults": ("lose", "pause"), "most": 1, "row": "R3"}
    alone = search("increment", "no_lost_update", **given)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        together = search("increment", "no_lost_update", executor=client.get_executor(), **given)
    assert (together.outcome, together.token, together.runs) == (alone.outcome, alone.token, alone.runs)
