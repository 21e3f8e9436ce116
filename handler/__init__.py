"""Tiankong (填空): Chinese fill-in-the-blank as a serverless function. The only Python that ships in the image."""

import os

# onnxruntime reads this when it is imported: without it, it writes under the home directory and starts a thread that
# calls home. Set here, so that no way of importing the project forgets it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
