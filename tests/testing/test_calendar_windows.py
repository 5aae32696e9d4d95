"""Windows with an offset and windows of a calendar, compared with Python's own time zones."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from millrace_runtime import Topology, json, long, string, tumbling, until_window_closes
from millrace_runtime.dsl.windows import Window, hopping
from millrace_runtime.testing import TopologyTestDriver

pytestmark = [pytest.mark.spark, pytest.mark.slow]
Create = Callable[..., TopologyTestDriver]
# Changes of clocks by an hour, half an hour and a day, and of two half-years.
ZONES = ["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
         "Pacific/Apia", "America/Sao_Paulo", "Africa/Casablanca", "UTC"]  # fmt: skip
UNITS = {"day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}
HOUR = 3_600_000
# Shortly before clocks change in Paris.
CHANGES = datetime(2026, 3, 24, tzinfo=UTC), datetime(2026, 10, 24, tzinfo=UTC)


def first_day(unit: str, day: date) -> date:
    match unit:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            return day.replace(month=1, day=1)
    return day


def begin(day: date, zone: ZoneInfo, offset: int) -> int:
    """Return the first instant in ms at which the clocks of a zone show the time or a later one."""
    local = datetime.combine(day, time()) + timedelta(milliseconds=offset)
    return int(local.replace(tzinfo=zone).timestamp() * 1000)


def bounds(unit: str, zone: ZoneInfo, offset: int, at: int) -> tuple[int, int]:
    """Return start and end of a time's window: neighbors among the beginnings around it."""
    around = datetime.fromtimestamp(at / 1000, UTC).date() - timedelta(days=UNITS[unit] + 40)
    days = {first_day(unit, around + timedelta(days=n)) for n in range(2 * UNITS[unit] + 90)}
    begins = sorted({begin(day, zone, offset) for day in days})
    return (
        max(0, *(each for each in begins if each <= at)),
        min(each for each in begins if each > at),
    )


def counting(window: Window, **more: Any) -> Topology:
    topology = Topology("windows")
    records = topology.stream("in", key=string(), value=long())
    table = records.group_by_key().windowed_by(window, **more).count(name="count")
    if not more:
        table.to_stream().to("out", key=json(), value=long())
        table = table.suppress(until_window_closes())
    table.to_stream().to("final", key=json(), value=long())
    return topology


@pytest.mark.parametrize("given", [{}, {"size": "1 day", "unit": "day"}])
def test_tumbling_windows_have_a_size_or_a_unit(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="either a size or a unit"):
        tumbling(**given)


@pytest.mark.parametrize("unit", UNITS)
def test_records_are_in_the_windows_that_clocks_show(
    unit: str, topology_test_driver: Create
) -> None:
    draw = random.Random(unit)
    for name in draw.sample(ZONES, 4):
        zone, offset = ZoneInfo(name), draw.choice([0, 150 * 60_000, 18 * HOUR])
        window = tumbling(unit=unit, time_zone=name, offset=offset, grace="100000 days")  # type: ignore[arg-type]
        driver = topology_test_driver(counting(window))
        records = driver.input_topic("in")
        for _ in range(60):
            at = draw.choice([
                draw.randrange(0, 2 * 10**12), draw.randrange(0, 3 * 24 * HOUR),
                begin(date(draw.choice([2011, 2026]), draw.randrange(1, 13), 1), zone, offset)
                + draw.randrange(-32 * 24, 32 * 24) * HOUR // 2,
            ])  # fmt: skip
            records.pipe("k", 1, at)
            [found] = driver.output_topic("out").read_records()
            shown = found.key["window"]
            assert (shown["start"], shown["end"]) == bounds(unit, zone, offset, at), (name, at)


@pytest.mark.parametrize(
    "window",
    [
        tumbling(unit="day", time_zone="Europe/Paris", offset="18 hours", grace="3 hours"),
        tumbling("6 hours", offset="100 minutes", grace="1 hour"),
        hopping("9 hours", advance="6 hours", offset="5 hours", grace="1 hour"),
    ],
    ids=["days", "tumbling", "hopping"],
)
@pytest.mark.parametrize(
    "first", [datetime(1970, 1, 1, tzinfo=UTC), *CHANGES], ids=["epoch", "March", "October"]
)
def test_what_windows_send_when_they_close_is_what_suppress_sends(
    window: Window, first: datetime, topology_test_driver: Create
) -> None:
    """Kafka Streams refuses to emit such windows when they close, but suppresses them."""
    draw = random.Random(first.month)
    start = int(first.timestamp() * 1000)
    lines = [
        (draw.choice("abc"), max(0, start + n * HOUR // 4 - draw.choice([0, 0, 2, 5]) * HOUR))
        for n in range(160)
    ]
    # A store that jumps by more than its retention drops windows before they are sent, in Kafka
    # Streams as well.
    lines += [("z", start + (40 + n) * HOUR) for n in range(60)]
    results = []
    for topology in (counting(window), counting(window, emit="window_close")):
        driver = topology_test_driver(topology)
        for key, at in lines:
            driver.input_topic("in").pipe(key, 1, at)
        found = driver.output_topic("final").read_records()
        results.append({(str(each.key), each.value, each.timestamp) for each in found})
        assert len(results[-1]) == len(found) > 5
    assert results[0] == results[1]
