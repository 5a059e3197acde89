"""nginx: files, ranges, HTTP/2 over TLS, and a latency for those who ask for one."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from servers.process import free_port, running

CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
{user}
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 100000;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        root {root};
        location = /protocol {{ return 200 "$server_protocol"; }}
    }}
    server {{
        listen 127.0.0.1:{tls_port} ssl http2;  # nginx before 1.25.1 knows no directive for it
        ssl_certificate {chain};
        ssl_certificate_key {key};
        root {root};
        location = /protocol {{ return 200 "$server_protocol"; }}
        location = /connection {{ return 200 "$connection"; }}
    }}
}}
"""


@dataclass(frozen=True)
class Nginx:
    """A running nginx: put files into `root`, ask for them at `url` or, with the bundle, at `tls_url`."""

    root: Path
    url: str
    tls_url: str
    bundle: str
    process_id: int


@pytest.fixture(scope="session")
def nginx(tmp_path_factory, authority):
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("nginx is not installed (Debian: nginx-light)")
    folder = tmp_path_factory.mktemp("nginx")
    root = folder / "root"
    root.mkdir()
    chain, key = authority.issue("127.0.0.1", "localhost")
    port, tls_port = free_port(), free_port()
    configuration = CONFIGURATION.format(
        folder=folder,
        root=root,
        port=port,
        tls_port=tls_port,
        chain=chain,
        key=key,
        user="user root;" if os.geteuid() == 0 else "",
    )
    (folder / "nginx.conf").write_text(configuration)
    command = [program, "-p", folder, "-e", folder / "error.log", "-c", folder / "nginx.conf"]
    with running(command, port, folder / "output.log") as process_id:
        yield Nginx(root, f"http://127.0.0.1:{port}", f"https://127.0.0.1:{tls_port}", authority.bundle, process_id)
