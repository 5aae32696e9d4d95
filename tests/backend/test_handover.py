"""Whether a standby is prepared beside the running driver, and how the plan reports it."""

from pathlib import Path
from typing import Any, cast

import pytest
from deployments import actions, handover, reconciling
from deployments.models import Deployment
from django.core.exceptions import ImproperlyConfigured
from millrace_backend import environment

from .conftest import Client, People
from .test_state_plan import running

__all__ = ["running"]


def reason(**settings: Any) -> str | None:
    found = handover.cold_reason(cast(Any, settings), Path("none"), paused=False)
    return None if found is None else found.code.value


def test_two_drivers_need_the_memory_of_the_second_one(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "free_memory_mb", lambda: 2_000)
    assert reason() is None
    assert reason(memory_mb=1_232) is None
    assert reason(memory_mb=1_233) == "memory"
    settings.SPARE_MEMORY_MB = 500
    assert reason() == "memory"
    found = handover.cold_reason({}, Path("none"), paused=False)
    assert found is not None
    assert "needs 1,792 MB of memory, but only 1,500 MB are free" in found.message


def test_the_cores_of_a_cluster_are_not_taken_twice(settings: Any) -> None:
    settings.SPARK_MASTER = "spark://there:7077"
    assert reason() == "cluster"
    settings.SPARK_MASTER = "local[2]"
    assert reason() is None


def test_in_a_container_its_own_limit_counts(tmp_path: Path) -> None:
    mega = 1_000_000
    (tmp_path / "memory.current").write_text(str(700 * mega))
    (tmp_path / "memory.stat").write_text(f"anon 1\ninactive_file {50 * mega}\n")
    (tmp_path / "memory.max").write_text("max")
    whole = handover.free_memory_mb(tmp_path)
    assert whole > 400
    (tmp_path / "memory.max").write_text(str(1_000 * mega))
    assert handover.free_memory_mb(tmp_path) == 350
    (tmp_path / "memory.max").unlink()
    assert handover.free_memory_mb(tmp_path) > 400


def test_spare_memory_is_a_number() -> None:
    assert environment.read({"MILLRACE_SPARE_MEMORY_MB": "900"}).spare_memory_mb == 900
    assert environment.read({}).spare_memory_mb == 0
    with pytest.raises(ImproperlyConfigured, match="a number of megabytes"):
        environment.read({"MILLRACE_SPARE_MEMORY_MB": "much"})


def test_the_plan_shows_how_the_driver_is_replaced(
    running: Deployment, people: People, client_of: Client, settings: Any
) -> None:
    path = f"/api/deployments/{running.pk}/plan"
    client = client_of(people.viewer)
    plan = client.get(path, {"version": 2}).json()
    assert plan["handover"] == {"warm": True, "reason": None, "message": None}
    much = client.post(path, {"version": 2, "settings": {"memory_mb": 1_000_000}}).json()
    assert (much["handover"]["warm"], much["handover"]["reason"]) == (False, "memory")
    Deployment.objects.filter(pk=running.pk).update(paused=True)
    assert client.get(path, {"version": 2}).json()["handover"]["reason"] == "paused"
    reconciling.end_run(running.pk, "stopped")
    assert client.get(path, {"version": 2}).json()["handover"] is None


def test_a_restart_that_was_refused_is_not_asked_for_again(
    running: Deployment, people: People
) -> None:
    actions.request_restart(people.operator, running)
    reconciling.keep_version(running.pk, 1)
    found = reconciling.load_for_reconcile(running.pk)
    assert found is not None
    assert not found.restart_requested
