"""Picture to tokens, words to a vector; frozen, and cached on disk by content."""
