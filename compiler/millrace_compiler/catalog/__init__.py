"""What is generated from the operators' declarations: the catalog, and pages with examples."""
