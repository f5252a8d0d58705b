"""What the paper prints and says, what we require, and whether the stored rows agree."""
