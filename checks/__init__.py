"""What keeps the project in order: checks, tests, golden files, the API's text, benchmarks."""
