"""Re-identification risk and attribute disclosure risk."""
