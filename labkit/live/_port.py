"""A port of the loopback address for a server that has to be told one."""

import socket

PORTS_TO_TRY = 5  # a free port can be taken by somebody else before the server binds it


def free_port() -> int:
    """One that is free just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
