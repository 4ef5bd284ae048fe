"""Gaze as pictures."""
