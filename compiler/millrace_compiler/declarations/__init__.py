"""What an operator declares: ports, parameters, calls in a program, steps that run."""
