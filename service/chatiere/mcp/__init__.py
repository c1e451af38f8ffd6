"""The server of the Model Context Protocol (MCP), by which language models play at sealed tables.

`tools` are the tools of the server. They work on a `backend`, which is the service in this process or at an address.
`tables` finds the game of a handle. `server` serves the tools over stdio or HTTP.
"""
