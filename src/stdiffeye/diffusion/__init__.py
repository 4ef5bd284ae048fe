"""Schedules, objectives and samplers. They do not know the network."""
