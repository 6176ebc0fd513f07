"""Question 3: a scheduler whose tasks stand in a table."""
