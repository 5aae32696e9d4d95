"""What plain programs contain beside the topology. Read as text (`parts.py`), never imported."""
