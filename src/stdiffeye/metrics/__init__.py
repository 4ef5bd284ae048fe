"""Judge any gaze model: metrics, protocols, tables. Never imports torch."""
