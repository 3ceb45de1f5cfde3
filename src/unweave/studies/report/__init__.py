"""What a study found: its table, statistics, plots and report."""
