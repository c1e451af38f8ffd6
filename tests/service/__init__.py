"""Tests of chatiere.service."""
