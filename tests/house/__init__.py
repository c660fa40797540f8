"""The house's own rules, and the runner of every test there is."""
