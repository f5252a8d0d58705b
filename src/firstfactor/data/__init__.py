"""Reading of tables: columns, factors and response as checked arrays."""
