"""How factors depend on each other: what each explains alone, which stand in for which, fair shares and pairs."""
