"""Result objects of all methods, and their wording."""
