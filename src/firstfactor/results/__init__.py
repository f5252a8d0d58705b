"""What every method returns, and how it is worded."""
