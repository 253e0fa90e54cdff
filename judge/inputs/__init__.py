"""Samples read from files and objects, and run folders read and written."""
