"""Searching for the schedule that breaks a claim, and what such searches say of the locks of this course."""

from ..faults.taped import KINDS
from .schedules import Job, Place, Played, Schedule, minimise, tape_of
from .searching import Bounds, Found, Outcome, search

__all__ = ["KINDS", "Bounds", "Found", "Job", "Outcome", "Place", "Played", "Schedule", "minimise", "search", "tape_of"]
