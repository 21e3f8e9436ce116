"""The domain: what a blank is, what may fill it and what an answer looks like. Standard library and numpy only."""
