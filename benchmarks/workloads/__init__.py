"""What is loaded, one file a workload. Each has `EPOCHS`, `prepare`, `dataset` and `collate`."""
