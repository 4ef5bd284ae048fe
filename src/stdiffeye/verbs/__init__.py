"""Verbs that need several rooms: files and stores are read, then a room below is given nouns, and results are written.

The other verbs are where their work is done, as `data.preparation.prepare`. All are functions of the package's top.
"""
