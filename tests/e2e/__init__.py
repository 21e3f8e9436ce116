"""The function as a process of its own: under Lambda's runtime, behind a server, from a terminal."""
