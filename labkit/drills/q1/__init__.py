"""Question 1: how often should a lease be renewed?"""
