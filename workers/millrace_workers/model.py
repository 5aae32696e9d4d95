"""What a state sees of a deployment: the plain values of the backend, by their short names."""

from deployments import plain_state
from deployments.snapshots import DeploymentSnapshot as Deployment
from deployments.snapshots import Failure, Follows, Outage, Process
from deployments.snapshots import RunSnapshot as Run
from deployments.snapshots import StartSnapshot as Start

__all__ = ["Deployment", "Failure", "Follows", "Outage", "Process", "Run", "Start", "plain_state"]
