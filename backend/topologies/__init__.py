"""Topologies: documents, drafts, immutable versions, compile and export."""
