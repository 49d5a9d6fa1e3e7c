"""The machinery of the end-to-end tests."""
