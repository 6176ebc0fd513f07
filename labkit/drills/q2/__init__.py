"""Question 2: Redlock asks five nodes, and the third times out. What now?"""
