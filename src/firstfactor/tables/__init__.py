"""Files and data frames in, a table with factors and a response out."""
