"""Terkwood/BUGOUT: two services of a server for the game of Go, judged by their own tests.

From the repository come facts only: topics, what the services compute, and the records of their
tests. UUIDs are short texts here. docs/applications.md has their lines.
"""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
from millrace_runtime import (
    Processor,
    ProcessorContext,
    Record,
    Topology,
    json,
    key_value_store,
    string,
    within,
)
from millrace_runtime.testing import TopologyTestDriver

from tests.testing.piping import Create, pipe, read

pytestmark = [pytest.mark.spark, pytest.mark.slow]


class Preference(TypedDict):
    sessionId: str
    gameId: str
    colorPref: str


class Colors(TypedDict):
    gameId: str
    black: str
    white: str


class Coord(TypedDict):
    x: int
    y: int


class Move(TypedDict):
    player: str
    coord: Coord | None
    turn: int


class Sync(TypedDict):
    sessionId: str
    reqId: str
    gameId: str
    playerUp: str
    turn: int
    lastMove: Move | None


class History(TypedDict):
    gameId: str
    replyTo: str
    eventId: str
    moves: list[Move]


class MoveMade(TypedDict):
    gameId: str
    replyTo: str
    eventId: str
    player: str
    coord: Coord | None


class ChoosesColors(Processor):
    """Gives both players their colors; if both want the same or any, by chance."""

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        self.context = context

    def process(self, record: Record[Any, Any]) -> None:
        first, second = record.value
        wanted = {first.colorPref, second.colorPref}
        one, two = first.sessionId, second.sessionId
        black = one if first.colorPref == "Black" or second.colorPref == "White" else two
        if len(wanted) == 1:
            black = self.context.random().choice([one, two])
        white = two if black == one else one
        colors = {"gameId": first.gameId, "black": black, "white": white}
        self.context.forward(record.replace(value=colors))


def collect(key: Any, value: Any, agg: Any) -> Any:
    agg.append(value)
    return agg


def other(player: str) -> str:
    return "WHITE" if player == "BLACK" else "BLACK"


def with_history(request: Any, history: Any) -> dict[str, Any]:
    last = history["moves"][-1] if history["moves"] else None
    return {
        "request": request,
        "moves": history["moves"],
        "replyTo": history["replyTo"],
        "turn": (last["turn"] if last else 0) + 1,
        "playerUp": other(last["player"]) if last else "BLACK",
    }


def is_ahead(value: Any) -> bool:
    request = value["request"]
    return (
        request["turn"] == value["turn"] + 1
        and request["playerUp"] == other(value["playerUp"])
        and request["lastMove"] is not None
    )


def reply(request: Any, moves: list[Any], turn: int, player: str) -> dict[str, Any]:
    return {
        "sessionId": request["sessionId"],
        "replyTo": request["reqId"],
        "gameId": request["gameId"],
        "playerUp": player,
        "turn": turn,
        "moves": moves,
    }


def caught_up(view: Any, moved: Any) -> dict[str, Any]:
    last = {"player": moved["player"], "coord": moved["coord"], "turn": view["turn"]}
    moves = [*view["moves"], last]
    return reply(view["request"], moves, view["turn"] + 1, other(moved["player"]))


VIEW = (
    "STRUCT<request: STRUCT<sessionId: STRING, reqId: STRING, gameId: STRING, playerUp: STRING, "
    "turn: BIGINT, lastMove: STRUCT<player: STRING, coord: STRUCT<x: BIGINT, y: BIGINT>, "
    "turn: BIGINT>>, moves: ARRAY<STRUCT<player: STRING, coord: STRUCT<x: BIGINT, y: BIGINT>, "
    "turn: BIGINT>>, replyTo: STRING, turn: BIGINT, playerUp: STRING>"
)


class TestGame:
    """Terkwood/BUGOUT: two services of a server for the game of Go."""

    def colors(self) -> Topology:
        topology = Topology("bugout-color-chooser")
        wishes = topology.stream(
            "bugout-choose-color-pref-cmd",
            key=string(),
            value=json("clientId STRING, colorPref STRING, sessionId STRING"),
        )
        ready = topology.stream(
            "bugout-game-ready-ev",
            key=string(),
            value=json("gameId STRING, sessions STRUCT<first: STRING, second: STRING>"),
        )
        for side in ("first", "second"):
            ready.map(
                key=f"value.sessions.{side}",
                value=f"named_struct('sessionId', value.sessions.{side}, 'gameId', value.gameId)",
            ).to("bugout-session-game-ready-ev")
        of_sessions = topology.stream(
            "bugout-session-game-ready-ev",
            key=string(),
            value=json("sessionId STRING, gameId STRING"),
        )
        wished = of_sessions.join(
            wishes,
            within("31556952 seconds"),
            joiner=lambda ready, wish: {**ready, "colorPref": wish["colorPref"]},
        )
        wished.select_key("value.gameId").to("bugout-game-color-pref-ev")
        of_games = topology.stream(
            "bugout-game-color-pref-ev", key=string(), value=json(Preference)
        )
        both = of_games.group_by_key().aggregate(
            list[Preference],
            initializer=list,
            aggregator=collect,
            store=key_value_store("bugout-color-prefs-store"),
        )
        chosen = both.to_stream().filter(lambda wishes: len(wishes) == 2)
        chosen.process_values(ChoosesColors, value_type=Colors).to("bugout-colors-chosen-ev")
        return topology

    def ready(self, driver: TopologyTestDriver, first: str, second: str) -> None:
        for key, color in (("one", first), ("two", second)):
            wish = {"clientId": f"client-{key}", "colorPref": color, "sessionId": key}
            pipe(driver, "bugout-choose-color-pref-cmd", [(key, wish)])
        game = {"gameId": "game", "sessions": {"first": "one", "second": "two"}}
        pipe(driver, "bugout-game-ready-ev", [("game", game)])

    def test_wishes_of_both_players_reach_their_game(self, topology_test_driver: Create) -> None:
        driver = topology_test_driver(self.colors())
        self.ready(driver, "Black", "White")
        assert read(driver, "bugout-game-color-pref-ev") == [
            ("game", {"sessionId": session, "gameId": "game", "colorPref": color})
            for session, color in (("one", "Black"), ("two", "White"))
        ]

    @pytest.mark.parametrize(
        ("first", "second", "black"),
        [
            ("White", "Black", {"two"}),
            ("Black", "White", {"one"}),
            ("Any", "White", {"one"}),
            ("White", "Any", {"two"}),
            ("Black", "Black", {"one", "two"}),
            ("White", "White", {"one", "two"}),
            ("Any", "Any", {"one", "two"}),
        ],
    )
    def test_both_players_get_a_color(
        self, topology_test_driver: Create, first: str, second: str, black: set[str]
    ) -> None:
        driver = topology_test_driver(self.colors())
        self.ready(driver, first, second)
        [(game, found)] = read(driver, "bugout-colors-chosen-ev")
        assert (game, found["gameId"]) == ("game", "game")
        assert found["black"] in black
        assert {found["black"], found["white"]} == {"one", "two"}

    def sync(self) -> Topology:
        topology = Topology("bugout-sync")
        requests = topology.stream("bugout-req-sync-cmd", key=string(), value=json(Sync))
        by_game = requests.select_key("value.gameId")
        by_game.map_values("named_struct('gameId', value.gameId, 'reqId', value.reqId)").to(
            "bugout-provide-history-cmd"
        )
        histories = topology.stream("bugout-history-provided-ev", key=string(), value=json(History))
        minute = within("1 minute")
        joined = by_game.join(histories, minute, joiner="named_struct('l', left, 'r', right)")
        views = joined.map_values(lambda value: with_history(value["l"], value["r"]), returns=VIEW)
        asked = views.filter(lambda view: view["request"]["reqId"] == view["replyTo"])
        branches = asked.select_key("value.request.sessionId").split(
            {"ahead": is_ahead}, default="served"
        )
        ahead = branches["ahead"]
        ahead.map(
            key="value.request.gameId",
            value="named_struct('gameId', value.request.gameId, 'reqId', value.request.reqId, "
            "'player', value.request.lastMove.player, 'coord', value.request.lastMove.coord)",
        ).to("bugout-make-move-cmd")
        made = topology.stream("bugout-move-made-ev", key=string(), value=json(MoveMade))
        moved = ahead.select_key("value.request.reqId").join(
            made.select_key("value.replyTo"), minute, joiner=caught_up
        )
        seen = branches["served"].map_values(
            lambda view: reply(view["request"], view["moves"], view["turn"], view["playerUp"])
        )
        seen.merge(moved.select_key("value.sessionId")).to("bugout-sync-reply-ev")
        return topology

    moves = (
        {"player": "BLACK", "coord": {"x": 4, "y": 4}, "turn": 1},
        {"player": "WHITE", "coord": {"x": 10, "y": 10}, "turn": 2},
        {"player": "BLACK", "coord": {"x": 4, "y": 5}, "turn": 3},
    )

    def request(
        self, driver: TopologyTestDriver, player: str, turn: int, last: dict[str, Any]
    ) -> None:
        """Ask for a synchronization; the server has two moves."""
        ids = {"sessionId": "session", "reqId": "request", "gameId": "game"}
        value = {**ids, "playerUp": player, "turn": turn, "lastMove": last}
        pipe(driver, "bugout-req-sync-cmd", [("session", value)])
        history = {"gameId": "game", "replyTo": "request", "eventId": "event"}
        moves = list(self.moves[:2])
        pipe(driver, "bugout-history-provided-ev", [("game", {**history, "moves": moves})])

    def reply(self, player: str, turn: int, moves: int) -> tuple[str, dict[str, Any]]:
        ids = {"sessionId": "session", "replyTo": "request", "gameId": "game"}
        return "session", {
            **ids, "playerUp": player, "turn": turn, "moves": list(self.moves[:moves])
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("player", "turn", "last"),
        [
            ("BLACK", 3, moves[1]),
            ("WHITE", 2, moves[0]),
            ("WHITE", 2, {"player": "BLACK", "coord": {"x": 13, "y": 5}, "turn": 7}),
        ],
        ids=["in sync", "behind", "bogus"],
    )
    def test_a_client_gets_the_moves_of_the_server(
        self, topology_test_driver: Create, player: str, turn: int, last: dict[str, Any]
    ) -> None:
        driver = topology_test_driver(self.sync())
        self.request(driver, player, turn, last)
        assert read(driver, "bugout-sync-reply-ev") == [self.reply("BLACK", 3, 2)]
        assert read(driver, "bugout-make-move-cmd") == []

    def test_a_server_gets_the_move_of_a_client(self, topology_test_driver: Create) -> None:
        driver = topology_test_driver(self.sync())
        last = self.moves[2]
        self.request(driver, "WHITE", 4, last)
        move = {"gameId": "game", "reqId": "request", "player": "BLACK", "coord": last["coord"]}
        assert read(driver, "bugout-make-move-cmd") == [("game", move)]
        assert read(driver, "bugout-sync-reply-ev") == []
        made = {"replyTo": "request", "eventId": "event", **move}
        pipe(driver, "bugout-move-made-ev", [("game", made)])
        assert read(driver, "bugout-sync-reply-ev") == [self.reply("WHITE", 4, 3)]
