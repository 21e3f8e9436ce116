"""Build-time tools: they make the model artifact and never run in the service."""
