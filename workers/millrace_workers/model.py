"""Deployments as the states see them: the plain values of the backend, under short names."""

from deployments import plain_state
from deployments.snapshots import (
    Cause,
    Failure,
    Follows,
    Outage,
    Process,
    Rejected,
    Unanswered,
)
from deployments.snapshots import DeploymentSnapshot as Deployment
from deployments.snapshots import RunSnapshot as Run
from deployments.snapshots import StartSnapshot as Start

__all__ = [
    "Cause", "Deployment", "Failure", "Follows", "Outage", "Process", "Rejected", "Run", "Start",
    "Unanswered", "plain_state",
]  # fmt: skip
