"""Fixtures of the whole suite: the servers."""

pytest_plugins = [
    "servers.certificates",
    "servers.nginx",
    "servers.object_stores",
    "servers.proxy",
]
