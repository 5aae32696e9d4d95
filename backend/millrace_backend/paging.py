"""Pagination of lists: ``{"count", "next", "previous", "results"}``."""

from rest_framework.pagination import PageNumberPagination


class Paging(PageNumberPagination):
    """``?page=`` from 1 and ``?page_size=`` up to 200."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
