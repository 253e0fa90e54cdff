"""Servers, stores, local models and hooks, and fakes of them."""
