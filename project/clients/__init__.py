"""Packages for programs that use the desk, made from the description of its interface."""
