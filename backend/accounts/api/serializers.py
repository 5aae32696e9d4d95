"""Shapes of people, workspaces, tokens and the audit log."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from accounts.choices import Role
from accounts.models import ApiToken, AuditEntry, Membership, User


class UserSerializer(serializers.ModelSerializer[User]):
    """A person as others see them."""

    display_name = serializers.CharField(source="shown_name", read_only=True)

    class Meta:
        model = User
        fields: ClassVar = ["id", "username", "display_name"]
        read_only_fields = fields


class WorkspaceSerializer(serializers.ModelSerializer[Membership]):
    """A workspace with one's own role in it."""

    id = serializers.IntegerField(source="workspace.pk", read_only=True)
    slug = serializers.CharField(source="workspace.slug", read_only=True)
    name = serializers.CharField(source="workspace.name", read_only=True)
    role = serializers.ChoiceField(choices=Role.choices, read_only=True)

    class Meta:
        model = Membership
        fields: ClassVar = ["id", "slug", "name", "role"]


class SessionSerializer(serializers.Serializer[Any]):
    """Who is signed in (null: nobody) and where they may work."""

    user = UserSerializer(allow_null=True, read_only=True)
    workspaces = WorkspaceSerializer(many=True, read_only=True)


class SignInSerializer(serializers.Serializer[Any]):
    """A name and its password."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=500, trim_whitespace=False, write_only=True)


class SignInLinkSerializer(serializers.Serializer[Any]):
    """The token of a one-time link."""

    token = serializers.CharField(max_length=200, write_only=True)


class AccountSerializer(serializers.Serializer[Any]):
    """What people change about themselves."""

    display_name = serializers.CharField(max_length=150)


class PasswordSerializer(serializers.Serializer[Any]):
    """The change of a password; ``current`` is not needed where there was none."""

    current = serializers.CharField(
        max_length=500, trim_whitespace=False, write_only=True, required=False, default=""
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
    """What a new token needs."""

    name = serializers.CharField(max_length=150)
    days = serializers.IntegerField(min_value=1, max_value=366, default=30)


class CreatedTokenSerializer(TokenSerializer):
    """A new token with its secret, shown this once."""

    token = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields: ClassVar = [*TokenSerializer.Meta.fields, "token"]


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """A person in a workspace."""

    user = UserSerializer(read_only=True)
    role = serializers.ChoiceField(choices=Role.choices)

    class Meta:
        model = Membership
        fields: ClassVar = ["id", "user", "role", "created_at"]
        read_only_fields: ClassVar = ["id", "user", "created_at"]


class NewMemberSerializer(serializers.Serializer[Any]):
    """Whom to add; an account that does not exist is made."""

    username = serializers.RegexField(
        r"^[\w.@+-]+\Z",
        max_length=150,
        error_messages={"invalid": "Letters, digits and @ . + - _ only."},
    )
    display_name = serializers.CharField(
        max_length=150, required=False, default="", allow_blank=True
    )
    role = serializers.ChoiceField(choices=Role.choices)


class RoleSerializer(serializers.Serializer[Any]):
    """A role to give."""

    role = serializers.ChoiceField(choices=Role.choices)


class AddedMemberSerializer(serializers.Serializer[Any]):
    """The member, and a one-time sign-in link if the account is new."""

    member = MemberSerializer(read_only=True)
    sign_in_link = serializers.CharField(allow_null=True, read_only=True)


class LinkSerializer(serializers.Serializer[Any]):
    """A one-time sign-in link, shown this once."""

    sign_in_link = serializers.CharField(read_only=True)


class AuditEntrySerializer(serializers.ModelSerializer[AuditEntry]):
    """Who did what, when."""

    actor = serializers.CharField(source="actor_name", read_only=True)
    detail = serializers.DictField(read_only=True)

    class Meta:
        model = AuditEntry
        fields: ClassVar = ["id", "at", "actor", "action", "subject", "subject_id", "detail"]
        read_only_fields = fields
