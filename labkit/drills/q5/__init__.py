"""Question 5: a worker of a lock in Kubernetes, and how it ends."""
