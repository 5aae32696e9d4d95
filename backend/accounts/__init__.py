"""Accounts: people, workspaces, roles, tokens, audit."""
