"""What every stage may use, and what knows nothing of factors."""
