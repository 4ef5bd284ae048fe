"""The version, for whoever writes it down; the rooms do not import the front door for it."""

__version__ = "0.1.0"
