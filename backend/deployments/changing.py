"""Changes of deployments by people, each in one transaction."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User
from accounts.permissions import require
from django.db import transaction
from django.utils import timezone
from millrace_model.drivers import StartStep

from deployments.choices import Desired, Observed
from deployments.events import wake_reconciler
from deployments.models import Deployment, Observation
from deployments.rows import bump, locked


class ChangeByPerson:
    """Context manager for one change by a person.

    Checks the role and locks the row; on success, saves it with an audit entry, a new revision and
    its event, and wakes the reconciler.
    """

    def __init__(self, actor: User, deployment: Deployment, action: str, **detail: Any) -> None:
        require(actor, deployment.workspace_id, Role.OPERATOR)
        self._actor, self._action, self._detail = actor, action, detail
        self._id = deployment.pk
        self._transaction = transaction.atomic()
        self.row: Deployment
        self.observation: Observation

    def __enter__(self) -> Self:
        self._transaction.__enter__()
        try:
            self.row = locked(self._id)
            self._was = self.row.desired
            self.observation = self.row.observation
        except BaseException as error:
            self._transaction.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def note(self, **detail: Any) -> None:
        """Add details to the audit entry that are known only now."""
        self._detail.update(detail)

    def begin_again(self, steps: list[StartStep]) -> None:
        """Request a run with new steps, and clear the failure and the outage of the last one."""
        if self.observation.state == Observed.FAILED:
            self.row.restart_requested_at = timezone.now()
        self.row.desired = Desired.RUNNING
        self.row.draining = False
        self.row.wanted_at = timezone.now()
        self.observation.steps = steps
        self.observation.failure = None
        self.observation.outage = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.row.save()
            self.observation.save()
            audit(
                self._actor,
                self.row.workspace_id,
                self._action,
                "deployment",
                self._id,
                topology=self.row.topology.name,
                **self._detail,
            )
            self._with_generators()
            bump(self._id)
            wake_reconciler(self._id)
        self._transaction.__exit__(kind, error, trace)

    def _with_generators(self) -> None:
        """Stop the topology's own generators with its last deployment, and start them again."""
        from records import generators

        row = self.row
        if row.is_shadow or row.desired == self._was:
            return
        others = row.topology.deployments.filter(is_shadow=False).exclude(pk=row.pk)
        if others.filter(desired=Desired.RUNNING).exists():
            return
        if row.desired == Desired.STOPPED:
            generators.stop_with(self._actor, row.topology)
        else:
            generators.start_with(self._actor, row.topology)
