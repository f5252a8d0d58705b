"""What is shown: tables, figures, the terminal, and the pages in docs/results."""
