"""Kills the server and cuts its power under recorded load, and looks for what it had promised."""
