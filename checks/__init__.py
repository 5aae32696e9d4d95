"""Development commands: checks, tests, golden files, the API's text, benchmarks."""
