"""Question 6: a lock in ZooKeeper, and the queue that waits for it."""
