"""The shapes that processes of Millrace exchange as JSON, each declared once.

A shape is a ``TypedDict``: its value is the JSON itself, so writing and reading it changes nothing
and a job needs no library for it (ADR 34). Notes that another version may have written are checked
when they are read (:func:`millrace_model.reading.read`).
"""
