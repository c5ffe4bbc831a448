"""Schedules: payouts that are requested from a template on set dates, each checked and approved like any other."""
