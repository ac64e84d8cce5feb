"""Driving the host C++ compiler: finding it, a content-addressed cache, and readable errors."""
