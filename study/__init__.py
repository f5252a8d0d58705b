"""The paper's simulation and real-data study, run again with today's software."""
