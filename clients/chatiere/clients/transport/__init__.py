"""Connections to a service: channels, plain sockets, and the streams of BatchService over both."""
