"""Where data come from: simulated tables, pure noise, the paper's real tables, those the R packages ran on."""
