"""Generators: random records that are written to topics until a limit or a stop."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from accounts.models import User, Workspace
from django.db import models
from django.utils import timezone
from millrace_backend.json_field import WrittenJSONField
from millrace_compiler.types.generating import Recipe
from millrace_compiler.types.types import DataType
from millrace_model.recipes import KeptRecipe
from topologies.models import Topology

from records.choices import GeneratorState
from records.generating import recipe_of


class Generator(models.Model):
    """A generator: random records, by a recipe and at a rate, for a topic."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="generators")
    topic = models.CharField(max_length=249)
    #: the topology that it was made for by *Try it*, with which it stops
    topology = models.ForeignKey(
        Topology, on_delete=models.SET_NULL, null=True, related_name="generators"
    )
    #: fields of a `Recipe` without the topic; `types` as JSON if the formats need a schema
    recipe = WrittenJSONField()
    #: records per second
    rate = models.FloatField()
    #: maximum number of records; null without a limit
    most = models.PositiveBigIntegerField(null=True)
    #: how long a run lasts; null: until somebody stops it
    seconds = models.PositiveIntegerField(null=True)
    #: end of the last run; null without a limit
    ends_at = models.DateTimeField(null=True)
    state = models.CharField(
        max_length=10, choices=GeneratorState, default=GeneratorState.RUNNING, db_index=True
    )
    #: records that Kafka has acknowledged
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
        """Return its recipe, with the types that a schema had when the generator was started."""
        recipe: KeptRecipe = self.recipe.copy()
        types = recipe.pop("types", {})
        found = {part: DataType.from_json(each) for part, each in types.items()}
        return recipe_of(self.topic, recipe, found)

    def over(self, number: int, now: datetime | None = None) -> bool:
        """Return whether it has reached its limits after ``number`` records."""
        if self.most is not None and number >= self.most:
            return True
        return self.ends_at is not None and (now or timezone.now()) >= self.ends_at
