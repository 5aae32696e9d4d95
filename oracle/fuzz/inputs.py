"""Generates input records: few keys, window boundaries, nulls, late records, equal timestamps."""

from __future__ import annotations

from millrace_model.records import InputLine

from oracle.fuzz.parts import KEYS, Generator, SourceRole


class Inputs(Generator):
    """Generates the input records."""

    def value(self, role: SourceRole, t: str) -> object:
        """Draw a value of a type."""
        r = self.r
        if r.random() < (0.18 if role != "stream" else 0.07):
            return None

        def text() -> str:
            return r.choice([*KEYS, "x", "y1", "12", "5"])

        def null(given: object) -> object:
            return None if r.random() < 0.08 else given

        if t == "STRING":
            return text()
        if t == "BIGINT":
            return r.randint(-1, 9)
        return {"g": null(r.choice(KEYS)), "n": null(r.randint(-1, 9)), "s": null(text())}

    def inputs(self) -> tuple[list[InputLine], bool]:
        """Draw the input lines; also return whether their timestamps never decrease."""
        r, now = self.r, 0
        lines: list[InputLine] = []
        ordered = r.random() < 0.3
        for _ in range(r.randint(12, 40)):
            topic = r.choice(list(self.topics))
            role, key, value = self.topics[topic]
            now += (
                r.choice([1, 1, 2, 5, 9])
                if ordered
                else r.choice([0, 0, 1, 1, 2, 4, 5, 6, 9, 10, 11])
            )
            ts = (
                now
                if ordered or r.random() >= 0.2
                else max(0, now - r.choice([1, 2, 4, 5, 6, 9, 10, 11, 15, 20, 21, 30]))
            )
            k = (
                r.choice(KEYS[:3] + KEYS[: r.randint(1, 4)])
                if key == "STRING"
                else r.randint(-1, 2)
            )
            line: InputLine = {
                "topic": topic,
                "key": None if r.random() < 0.05 else k,
                "value": self.value(role, value),
                "timestamp": ts,
            }
            if r.random() < 0.07:
                line["headers"] = {"h": r.choice(["u", "v"])}
            lines.append(line)
        for topic, (
            role,
            key,
            value,
        ) in self.topics.items():  # A last record with a much later timestamp closes open windows.
            if role == "stream" and r.random() < 0.7:
                now += 100
                lines.append(
                    {
                        "topic": topic,
                        "key": "a" if key == "STRING" else 0,
                        "value": self.value(role, value),
                        "timestamp": now,
                    }
                )
        return lines, ordered
