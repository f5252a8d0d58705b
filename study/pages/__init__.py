"""What is shown: tables, figures, the terminal, docs/study.md and docs/certainty.md."""
