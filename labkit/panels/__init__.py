"""Panels for notebooks: turn a story's parameters, see its picture and its verdicts change. See `panel`."""

from .panel import Panel, panel

__all__ = ["Panel", "panel"]
