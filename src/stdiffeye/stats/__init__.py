"""Distributions of gaze, human against generated. Never imports torch."""
