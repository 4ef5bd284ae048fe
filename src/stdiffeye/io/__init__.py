"""Files in and out, one file per format. A reader returns nouns, never dictionaries."""
