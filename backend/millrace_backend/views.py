"""Base class and helpers of the API's views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from accounts.models import User
from django.db.models import Q, QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer, Serializer
from rest_framework.views import APIView

from millrace_backend.errors import ApiError, Forbidden, too_busy
from millrace_backend.paging import Paging
from millrace_backend.requesters import current_requester
from millrace_backend.searching import searched_words
from millrace_backend.threads import Full
from millrace_backend.turns import current_owner


def ordering_parameter(names: Sequence[str]) -> OpenApiParameter:
    """Return the parameter ``?ordering=`` with the names that it accepts."""
    choices = [sign + name for name in names for sign in ("", "-")]
    return OpenApiParameter(
        "ordering", str, enum=choices, description="Prefix with `-` for descending order."
    )


PAGE_PARAMETERS = [
    OpenApiParameter("page", OpenApiTypes.INT, description="1-based."),
    OpenApiParameter("page_size", OpenApiTypes.INT, description="At most 200."),
]


def valid(serializer: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    """The validated fields of a request. Raises ValidationError."""
    given = serializer(data=data)
    given.is_valid(raise_exception=True)
    values: dict[str, object] = given.validated_data
    return values


class ApiView(APIView):
    """Base class of the API's views."""

    #: methods that reject API tokens, so that a token cannot be used to gain further access
    session_only: ClassVar[frozenset[str]] = frozenset()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check whether the request may be answered, and note for whom."""
        super().initial(request, *args, **kwargs)
        account = str(request.user.pk or "")
        current_owner.set(account)
        requester = current_requester.get()
        if requester is not None:
            try:
                requester.is_account(account)
            except Full as full:
                raise too_busy(own=full.own) from None

    def check_permissions(self, request: Request) -> None:
        """Raise Forbidden for an API token where a session is required."""
        super().check_permissions(request)
        if request.auth is not None and request.method in self.session_only:
            raise Forbidden(
                "session_needed",
                "An API token cannot change who has access.",
                "Sign in on the page: tokens, passwords and members are managed there.",
            )

    @property
    def person(self) -> User:
        """The user of the request. Raises TypeError for an anonymous one."""
        user = self.request.user
        if not isinstance(user, User):
            raise TypeError("only views that anonymous people cannot reach have a person")
        return user

    def page(
        self,
        rows: QuerySet[Any],
        serializer: type[BaseSerializer[Any]],
        *,
        search: Sequence[str] = (),
        ordering: Sequence[str] = (),
        context: dict[str, object] | None = None,
    ) -> Response:
        """Return one page of the rows, filtered by ``?search=`` and sorted by ``?ordering=``.

        ``search`` and ``ordering`` are the columns that are searched and can be sorted by.
        """
        for word in searched_words(self.request):
            rows = rows.filter(
                Q(*((f"{column}__icontains", word) for column in search), _connector=Q.OR)
            )
        wanted = self.request.query_params.get("ordering")
        if wanted is not None:
            if wanted.removeprefix("-") not in ordering:
                raise ApiError(
                    "unknown_ordering",
                    f"Ordering by {wanted[:50]!r} is not supported.",
                    f"Order by one of {', '.join(ordering) or 'nothing'}.",
                    fields={"ordering": [f"One of {', '.join(ordering)}."]},
                )
            rows = rows.order_by(wanted, "-id" if wanted.startswith("-") else "id")
        paging = Paging()
        found = paging.paginate_queryset(rows, self.request, view=self)
        return paging.get_paginated_response(
            serializer(found, many=True, context=context or {}).data
        )
