"""One reader of Redis streams per process, fanning out to the bounded queues of open pages."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.conf import settings
from redis.asyncio import Redis
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

#: events that wait for one page; a page that falls further behind gets a fresh snapshot
QUEUE_LENGTH = 500
#: milliseconds after which the reader notices that pages came or went
BLOCK_MS = 250
RETRY_SECONDS = 1.0
#: entries read at once
BATCH = 200
START = "0-0"


class Resync:
    """Queue item: events were lost, so the page needs a new snapshot."""


@dataclass(frozen=True)
class Entry:
    """An entry of a stream."""

    stream: str
    id: str
    fields: dict[bytes, bytes]


def order(entry_id: str) -> tuple[int, int]:
    """Return a stream id in a form that can be compared."""
    first, _, second = entry_id.partition("-")
    return int(first), int(second or 0)


@dataclass(eq=False)
class Subscription:
    """The streams that one page listens to, and its queue."""

    streams: set[str] = field(default_factory=set)
    queue: asyncio.Queue[Entry | Resync] = field(
        default_factory=lambda: asyncio.Queue(QUEUE_LENGTH)
    )

    def put(self, item: Entry | Resync) -> None:
        """Queue an item; if the page does not keep up, a Resync replaces everything it missed."""
        if self.queue.full():
            self.resync()
            return
        self.queue.put_nowait(item)

    def resync(self) -> None:
        """Empty the queue and request a new snapshot."""
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(Resync())


class Hub:
    """The process's reader, which runs while there are subscriptions."""

    def __init__(self, url: str) -> None:
        self.redis: Redis = Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2)
        self._subscriptions: set[Subscription] = set()
        self._positions: dict[str, str] = {}
        self._reader: asyncio.Task[None] | None = None

    def subscribe(self) -> Subscription:
        """Return a new subscription, without streams."""
        subscription = Subscription()
        self._subscriptions.add(subscription)
        if self._reader is None or self._reader.done():
            self._reader = asyncio.get_running_loop().create_task(self._read())
        return subscription

    def watch(self, subscription: Subscription, stream: str, after: str) -> None:
        """Deliver a stream's entries after a position, or after a later one if others listen.

        To get all of them, read up to now with ``entries`` after this call, and drop duplicates.
        """
        subscription.streams.add(stream)
        self._positions.setdefault(stream, after)

    def unwatch(self, subscription: Subscription, stream: str) -> None:
        """Stop delivering this stream."""
        subscription.streams.discard(stream)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Remove the subscription of a closed page."""
        self._subscriptions.discard(subscription)

    async def entries(self, stream: str, after: str) -> list[Entry]:
        """Return the stream's entries after a position, up to now."""
        found: Any = await self.redis.xrange(stream, f"({after}", "+")
        return [Entry(stream, each.decode(), fields) for each, fields in found]

    async def last_entries(self, stream: str, count: int) -> list[Entry]:
        """The stream's last entries, oldest first."""
        found: Any = await self.redis.xrevrange(stream, count=count)
        return [Entry(stream, each.decode(), fields) for each, fields in reversed(found)]

    async def position(self, stream: str) -> str:
        """The id of the stream's last entry."""
        last = await self.last_entries(stream, 1)
        return last[-1].id if last else START

    async def reaches_back(self, stream: str, after: str) -> bool:
        """Whether nothing after this position has been trimmed from the stream."""
        first: Any = await self.redis.xrange(stream, count=1)
        if not first:
            return after == START
        if order(first[0][0].decode()) <= order(after):
            return True
        about: Any = await self.redis.xinfo_stream(stream)
        return bool(about["entries-added"] == about["length"])

    async def close(self) -> None:
        """End the reader and the connections."""
        # Without subscriptions, the reader ends even if a library swallows the cancellation.
        self._subscriptions.clear()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        await self.redis.aclose()

    async def _read(self) -> None:
        while self._subscriptions:
            self._forget_unwatched()
            if not self._positions:
                await asyncio.sleep(BLOCK_MS / 1000)
                continue
            try:
                answer: Any = await self.redis.xread(
                    dict(self._positions),  # type: ignore[arg-type]
                    count=BATCH,
                    block=BLOCK_MS,
                )
                for stream, entries in answer or []:
                    self._deliver(stream.decode(), entries)
            except (RedisError, OSError) as error:
                log.warning("live events interrupted", reason=str(error))
                await self._come_back()

    def _deliver(self, stream: str, entries: Iterable[tuple[bytes, dict[bytes, bytes]]]) -> None:
        for entry_id, fields in entries:
            entry = Entry(stream, entry_id.decode(), fields)
            self._positions[stream] = entry.id
            for subscription in self._subscriptions:
                if stream in subscription.streams:
                    subscription.put(entry)

    def _forget_unwatched(self) -> None:
        watched = set().union(*(each.streams for each in self._subscriptions))
        for stream in set(self._positions) - watched:
            del self._positions[stream]

    async def _come_back(self) -> None:
        """Wait until Redis responds, continue at the ends of the streams, and resync all pages."""
        while self._subscriptions:
            await asyncio.sleep(RETRY_SECONDS)
            try:
                for stream in list(self._positions):
                    self._positions[stream] = await self.position(stream)
            except (RedisError, OSError):
                continue
            for subscription in self._subscriptions:
                subscription.resync()
            return


_hubs: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = weakref.WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop; a server process has one."""
    loop = asyncio.get_running_loop()
    found = _hubs.get(loop)
    if found is None:
        found = _hubs[loop] = Hub(settings.REDIS_URL)
    return found
