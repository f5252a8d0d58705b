"""Speed and memory, side by side with peers in one run; not part of the package."""
