"""One suite over every cache, and what becomes of an answer when a cache fails."""
