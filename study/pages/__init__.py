"""What is shown: tables, figures, the terminal, docs/study.md, docs/certainty.md and docs/evidence.md."""
