"""Question 4: fencing in SQL."""
