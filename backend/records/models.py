"""Generators: random records that are written to topics until they are stopped."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from accounts.models import User, Workspace
from django.db import models
from django.utils import timezone
from millrace_compiler.types import DataType

from records.choices import GeneratorState
from records.generating import Recipe


class Generator(models.Model):
    """Random records by a recipe, so many a second, into a topic."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="generators")
    topic = models.CharField(max_length=249)
    #: the fields of a `Recipe` but the topic; `types` as JSON, where formats need a schema
    recipe = models.JSONField()
    #: records a second
    rate = models.FloatField()
    #: so many records at most; null without such a limit
    most = models.PositiveBigIntegerField(null=True)
    #: null: until somebody stops it
    ends_at = models.DateTimeField(null=True)
    state = models.CharField(
        max_length=10, choices=GeneratorState, default=GeneratorState.RUNNING, db_index=True
    )
    #: records that the cluster has
    written = models.PositiveBigIntegerField(default=0)
    #: why it failed, or what it waits for: code, facts and message
    problem = models.JSONField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["topic"],
                condition=models.Q(state="running"),
                name="one_generator_per_topic",
            )
        ]

    def __str__(self) -> str:
        return f"generator {self.pk} into {self.topic}"

    def recipe_of(self) -> Recipe:
        """What its records look like; `types` are those that a schema had when it was started."""
        settings = dict(self.recipe)
        types = settings.pop("types", {})
        found = {part: DataType.from_json(each) for part, each in types.items()}
        return Recipe(topic=self.topic, **settings, types=found)

    def over(self, number: int, now: datetime | None = None) -> bool:
        """Whether it has reached its limits once ``number`` records are made."""
        if self.most is not None and number >= self.most:
            return True
        return self.ends_at is not None and (now or timezone.now()) >= self.ends_at
