"""A quick random forest, which several competitors and the errors on real tables stand on."""
