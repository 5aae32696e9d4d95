"""Simulation of the compiled job without Spark's micro-batches, for thousands of input lines.

DataFrames run as one batch over all records; the tasks behind them get the rows in exactly the
micro-batches that `cut` defines, and are restarted from the state that they wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property

from millrace_model.records import OperatorRecord, OperatorRow, OutputLine
from millrace_model.traces import RawProgress
from pyspark.sql import DataFrame

from millrace_runtime import columns
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.lines import DUMP, LAST_LETTER, STOP, Line, failure_of, shown
from millrace_runtime.results.results import Result
from millrace_runtime.simulator.memory import Memory
from millrace_runtime.simulator.simulation import Halted, Simulator


class Held(Memory):
    """Sources that hold all records before the job runs."""

    @cached_property
    def _frame(self) -> DataFrame:
        java = columns.gateway().Simulation.still(self._spark._jsparkSession, self.run)
        return DataFrame(java, self._spark)

    def stop(self) -> None:
        """Process no further micro-batches."""
        columns.gateway().Simulation.stop(self.run)

    def hold(
        self,
        records: Sequence[OperatorRecord],
        cuts: Sequence[int],
        *,
        restart_each: bool,
        dump: bool,
    ) -> None:
        """Set all records; `cuts`: the place of the last record of each micro-batch.

        `dump`: whether the last record requests the contents of stores.
        """
        columns.gateway().Simulation.hold(
            self.run, json.dumps(records), json.dumps(cuts), restart_each, dump
        )

    def begin(self, states: str) -> None:
        """Let the tasks begin with these states instead of empty ones."""
        columns.gateway().Simulation.begin(self.run, states)


class UnbatchedSimulator(Simulator):
    """Runs one job on input lines. Raises MillraceError `reads_its_own` if it reads its outputs.

    Its tasks can begin with the state of a deployment (`begun`).
    """

    environment = Held
    #: number of micro-batches of lines
    _cuts = 0

    def stop(self) -> None:
        """See Simulator."""
        assert isinstance(self._memory, Held)
        self._stopped = True
        self._memory.stop()

    def _finished(self, found: RawProgress) -> int:
        # The last cut is the dump.
        return min(int(found["done"]), self._cuts)

    def run_batches(self, batches: Iterable[list[tuple[int, Line]]]) -> Result:
        """See Simulator."""
        assert isinstance(self._memory, Held)
        result = Result([])
        records, cuts = [], []
        for batch in batches:
            records += [each for number, line in batch for each in self._events(line, number)]
            cuts.append(self._sequence)
        self._cuts = len(cuts)
        dump = self._begun is None
        if dump:
            records.append(self._dump())
            cuts.append(self._sequence)
        try:
            if self._begun is not None:
                self._memory.begin(self._begun.state)
            self._memory.hold(records, cuts, restart_each=self.restart_each, dump=dump)
            self._memory.sink(self._planned.graph, self.settings)
            columns.gateway().Unbatched.drain(self._planned.rows._jdf, self._run)
            rows = self._memory.take()
            self._note(rows, result)
            done = int(self._memory.progress()["done"]) - dump
            if self._stopped and done < self._cuts:
                result.stopped_after = done
            self._finish(rows, result)
        except Halted as halted:
            halted.note(result)
        finally:
            self._add_logs(result)
        return result

    def _events(self, line: Line, number: int) -> list[OperatorRecord]:
        if "restart" in line:
            return []
        if "advance_wall_clock" in line:
            self._wall_clock += int(line["advance_wall_clock"])
            return [self._control({"wall_clock": self._wall_clock}, number)]
        return self._records(line, number)

    def _note(self, rows: Iterable[OperatorRow], result: Result) -> None:
        letter: list[OutputLine] = []
        for row in rows:
            if row["dest"] == STOP:
                raise Halted(json.loads(row["fault"]), self._line_of[row["merge"]], letter)
            if row["dest"] == DUMP or row["topic"] is None:
                continue
            if self._job.formats_of(row["topic"]) is not None:
                raise MillraceError("reads_its_own", f"{row['topic']} is read by the job itself.")
            output = shown(row, row["topic"], self._line_of[row["merge"]])
            if row["dest"] == LAST_LETTER:
                letter = [output]
            else:
                result.add(output, failure_of(row))
