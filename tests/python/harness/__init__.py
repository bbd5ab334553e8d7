"""Other people's Python test suites, run natively and through the connector, compared test by test."""
