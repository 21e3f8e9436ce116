"""The HTTP door. Imported for HTTP events only: FastAPI costs more to import than the model costs to load."""
