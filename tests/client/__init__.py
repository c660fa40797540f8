"""The client a person uses, against servers of others, and against faults."""
