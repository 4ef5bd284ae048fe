"""Whole systems: a network, what it is trained to do and how gaze is sampled from it."""
