"""Many trials: prepare a data set, keep it in a store, hand out batches."""
