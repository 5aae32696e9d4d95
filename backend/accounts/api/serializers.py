"""Serializers of people, workspaces, tokens and the audit log."""

from __future__ import annotations

from typing import Any, ClassVar

from millrace_backend.names import NameField
from rest_framework import serializers

from accounts.choices import Role
from accounts.models import ApiToken, AuditEntry, Membership, User, Workspace
from accounts.topics import INTERNAL


class UserNameField(serializers.RegexField):
    """A user name."""

    default_error_messages: ClassVar = {"invalid": "Letters, digits and @ . + - _ only."}

    def __init__(self, **options: Any) -> None:
        super().__init__(r"^[\w.@+-]+\Z", max_length=150, **options)


class UserSerializer(serializers.ModelSerializer[User]):
    """A user, as others see them."""

    display_name = serializers.CharField(source="shown_name", read_only=True)

    class Meta:
        model = User
        fields: ClassVar = ["id", "username", "display_name"]
        read_only_fields = fields


class WorkspaceSerializer(serializers.ModelSerializer[Membership]):
    """A workspace and the user's role in it."""

    id = serializers.IntegerField(source="workspace.pk", read_only=True)
    slug = serializers.CharField(source="workspace.slug", read_only=True)
    name = serializers.CharField(source="workspace.name", read_only=True)
    role = serializers.ChoiceField(choices=Role.choices, read_only=True)

    class Meta:
        model = Membership
        fields: ClassVar = ["id", "slug", "name", "role"]


class SessionSerializer(serializers.Serializer[Any]):
    """The signed-in user, or null, with their workspaces and whether they have a password."""

    user = UserSerializer(allow_null=True, read_only=True)
    workspaces = WorkspaceSerializer(many=True, read_only=True)
    has_password = serializers.BooleanField(
        read_only=True, help_text="If false, the user can sign in again only with a one-time link."
    )
    installation_admin = serializers.BooleanField(read_only=True)


class SignInSerializer(serializers.Serializer[Any]):
    """User name and password."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=500, trim_whitespace=False, write_only=True)


class SignInLinkSerializer(serializers.Serializer[Any]):
    """The token of a one-time link."""

    token = serializers.CharField(max_length=200, write_only=True)


class AccountSerializer(serializers.Serializer[Any]):
    """Changes to one's own account."""

    display_name = NameField()


class PasswordSerializer(serializers.Serializer[Any]):
    """A new password; ``current`` is required if the account has one."""

    current = serializers.CharField(
        max_length=500,
        trim_whitespace=False,
        write_only=True,
        required=False,
        default="",
        allow_blank=True,
    )
    new = serializers.CharField(max_length=500, trim_whitespace=False, write_only=True)


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token without its secret."""

    created_at = serializers.DateTimeField(source="created", read_only=True)
    expires_at = serializers.DateTimeField(source="expiry", read_only=True, allow_null=True)
    prefix = serializers.CharField(source="token_key", read_only=True)

    class Meta:
        model = ApiToken
        fields: ClassVar = ["id", "name", "prefix", "created_at", "expires_at"]
        read_only_fields = fields


class NewTokenSerializer(serializers.Serializer[Any]):
    """Name and lifetime of a new token."""

    name = NameField()
    days = serializers.IntegerField(min_value=1, max_value=366, default=30)


class CreatedTokenSerializer(TokenSerializer):
    """A new token with its secret, which is returned only once."""

    token = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields: ClassVar = [*TokenSerializer.Meta.fields, "token"]


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """A person in a workspace."""

    user = UserSerializer(read_only=True)
    role = serializers.ChoiceField(choices=Role.choices)
    created_here = serializers.SerializerMethodField(
        help_text="Whether this workspace created the account, so that its admins can issue "
        "sign-in links."
    )

    class Meta:
        model = Membership
        fields: ClassVar = ["id", "user", "role", "created_at", "created_here"]
        read_only_fields: ClassVar = ["id", "user", "created_at"]

    def get_created_here(self, row: Membership) -> bool:
        """Whether the account was created in this workspace."""
        return row.user.created_in_id == row.workspace_id


class NewMemberSerializer(serializers.Serializer[Any]):
    """The user to add. The account is created if it does not exist."""

    username = UserNameField()
    display_name = NameField(required=False, default="", allow_blank=True)
    role = serializers.ChoiceField(choices=Role.choices)


class RoleSerializer(serializers.Serializer[Any]):
    """A new role."""

    role = serializers.ChoiceField(choices=Role.choices)


class AddedMemberSerializer(serializers.Serializer[Any]):
    """The member, and a one-time sign-in link if this workspace may issue one."""

    member = MemberSerializer(read_only=True)
    sign_in_link = serializers.CharField(allow_null=True, read_only=True)


class LinkSerializer(serializers.Serializer[Any]):
    """A one-time sign-in link, which is returned only once."""

    sign_in_link = serializers.CharField(read_only=True)


class WorkspaceContentsSerializer(serializers.Serializer[Any]):
    """What is deleted with a workspace."""

    slug = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    topologies = serializers.IntegerField(read_only=True)
    deployments = serializers.IntegerField(read_only=True)
    running = serializers.IntegerField(
        read_only=True, help_text="Deployments with which it cannot be deleted."
    )
    members = serializers.IntegerField(read_only=True)


class WorkspaceDeletionSerializer(serializers.Serializer[Any]):
    """The confirmation of a deletion."""

    name = serializers.CharField(help_text="The workspace's name.")


class WorkspaceRulesSerializer(serializers.Serializer[Any]):
    """Rules that the admins of a workspace set."""

    tests_required = serializers.BooleanField(
        help_text="Whether a version can be deployed only if all tests of its topology have "
        "passed with it."
    )
    approval_required = serializers.BooleanField(
        help_text="Whether a version can be deployed only if an operator who is not its author "
        "has approved it."
    )


class WorkspaceRulesChangeSerializer(WorkspaceRulesSerializer):
    """Rules to set; those that are left out do not change."""

    tests_required = serializers.BooleanField(required=False)
    approval_required = serializers.BooleanField(required=False)


class WorkspaceSettingsSerializer(serializers.ModelSerializer[Workspace]):
    """Settings of a workspace that only the installation's admin may change."""

    topic_prefixes = serializers.ListField(
        child=serializers.RegexField(
            r"^[A-Za-z0-9._-]+\Z",
            max_length=249,
            error_messages={"invalid": "Letters, digits and . _ - only, as in names of topics."},
        ),
        max_length=100,
        help_text="Prefixes of permitted topics. If empty, all topics except Kafka's internal "
        "ones.",
    )

    class Meta:
        model = Workspace
        fields: ClassVar = ["id", "slug", "name", "topic_prefixes"]
        read_only_fields: ClassVar = ["id", "slug", "name"]

    def validate_topic_prefixes(self, values: list[str]) -> list[str]:
        """Remove duplicates, and reject prefixes that only internal topics have."""
        if any(value.startswith(INTERNAL) for value in values):
            raise serializers.ValidationError(
                "Topics that begin with __ are internal topics of Kafka and are never allowed."
            )
        return list(dict.fromkeys(values))


class NewWorkspaceSerializer(serializers.Serializer[Any]):
    """A workspace to create, and its first admin, whose account is created if necessary."""

    slug = serializers.RegexField(
        r"^[a-z0-9]+(-[a-z0-9]+)*\Z",
        max_length=50,
        error_messages={"invalid": "Lower-case letters and digits, with single hyphens between."},
        help_text="The workspace's part of addresses.",
    )
    name = NameField()
    admin = UserNameField(help_text="A user name.")


class CreatedWorkspaceSerializer(serializers.Serializer[Any]):
    """The workspace, and a one-time sign-in link if its admin's account was created."""

    workspace = WorkspaceSettingsSerializer(read_only=True)
    sign_in_link = serializers.CharField(allow_null=True, read_only=True)


class AccountChangeSerializer(serializers.Serializer[Any]):
    """Changes by the installation's admin."""

    active = serializers.BooleanField(
        required=False, help_text="False closes the account, true opens it again."
    )
    installation_admin = serializers.BooleanField(required=False)


class AccountOverviewSerializer(serializers.ModelSerializer[User]):
    """An account as the installation's admin sees it."""

    display_name = serializers.CharField(source="shown_name", read_only=True)
    workspaces = serializers.SerializerMethodField(help_text="Slugs of its workspaces.")
    has_password = serializers.BooleanField(source="has_usable_password", read_only=True)
    active = serializers.BooleanField(
        source="is_active", read_only=True, help_text="False for a closed account."
    )
    installation_admin = serializers.BooleanField(source="is_superuser", read_only=True)

    class Meta:
        model = User
        fields: ClassVar = [
            *("id", "username", "display_name", "workspaces", "has_password", "last_login"),
            *("active", "installation_admin"),
        ]
        read_only_fields = fields

    def get_workspaces(self, row: User) -> list[str]:
        """Slugs of the workspaces that the account is a member of."""
        return [membership.workspace.slug for membership in row.memberships.all()]


class AuditEntrySerializer(serializers.ModelSerializer[AuditEntry]):
    """An action: who did what, and when."""

    actor = serializers.CharField(source="actor_name", read_only=True)
    detail = serializers.DictField(read_only=True)

    class Meta:
        model = AuditEntry
        fields: ClassVar = [
            "id",
            "at",
            "actor",
            "address",
            "action",
            "subject",
            "subject_id",
            "detail",
            "deleted_workspace",
        ]
        read_only_fields = fields
        extra_kwargs: ClassVar = {
            "deleted_workspace": {
                "help_text": "Slug of the workspace in which it was done, if it was deleted since."
            }
        }
