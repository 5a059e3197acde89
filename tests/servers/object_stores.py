"""Object stores as processes: S3 (moto), Azure Blob Storage (Azurite), Google Cloud Storage (gcp-storage-emulator).

Each fixture gives a `Store`: a URL and options for `ObjectStoreDataset`, and `put` to fill it.
"""

import base64
import hashlib
import hmac
import os
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from urllib.parse import quote

import pytest

from servers import install
from servers.process import free_port, running

# The account that every Azurite has; published in its documentation.
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True)
class Store:
    """A running store with one bucket."""

    url: str
    options: dict[str, str]
    put: Callable[[str, bytes], None] = field(repr=False)


def send(url, method, body=b"", headers=None):
    # Without a type, urllib says that the body is a form, and moto then reads it as one.
    headers = {"Content-Type": "application/octet-stream"} | (headers or {})
    request = urllib.request.Request(url, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as response:
        return response.read()


def without_proxies():
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


@pytest.fixture(scope="session")
def s3(tmp_path_factory):
    try:
        program = install.python_servers() / "moto_server"
    except install.Unavailable as error:
        pytest.skip(f"moto: {error}")
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    command = [program, "-H", "127.0.0.1", "-p", port]
    with running(command, port, tmp_path_factory.mktemp("moto") / "log", env=without_proxies()):
        send(f"{endpoint}/tiles", "PUT")
        yield Store(
            "s3://tiles/set",
            {
                "aws_endpoint": endpoint,
                "aws_allow_http": "true",
                "aws_region": "us-east-1",
                "aws_access_key_id": "access",
                "aws_secret_access_key": "a-secret-key",
            },
            lambda key, body: send(f"{endpoint}/tiles/set/{quote(key)}", "PUT", body) and None,
        )


@pytest.fixture(scope="session")
def azure(tmp_path_factory):
    try:
        program = install.azurite()
    except install.Unavailable as error:
        pytest.skip(f"azurite: {error}")
    folder, port = tmp_path_factory.mktemp("azurite"), free_port()
    endpoint = f"http://127.0.0.1:{port}/{AZURE_ACCOUNT}"
    command = [program, "--blobHost", "127.0.0.1", "--blobPort", port, "--location", folder, "--silent"]
    command += ["--skipApiVersionCheck", "--disableTelemetry"]

    def put(path, body, kind):
        headers = {"x-ms-date": formatdate(time.time(), usegmt=True), "x-ms-version": "2021-08-06"}
        if kind == "blob":
            headers["x-ms-blob-type"] = "BlockBlob"
        told = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        resource = f"/{AZURE_ACCOUNT}/{AZURE_ACCOUNT}/{path}"
        content, query = ("application/octet-stream", "") if kind == "blob" else ("", "\nrestype:container")
        length = str(len(body)) if body else ""
        to_sign = f"PUT\n\n\n{length}\n\n{content}\n\n\n\n\n\n\n{told}{resource}{query}"
        signature = hmac.new(base64.b64decode(AZURE_KEY), to_sign.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"SharedKey {AZURE_ACCOUNT}:{base64.b64encode(signature).decode()}"
        headers["Content-Type"] = content
        send(f"{endpoint}/{path}{'' if kind == 'blob' else '?restype=container'}", "PUT", body, headers)

    with running(command, port, folder / "log", env=without_proxies()):
        put("tiles", b"", "container")
        yield Store(
            "az://tiles/set",
            {
                "azure_storage_account_name": AZURE_ACCOUNT,
                "azure_storage_account_key": AZURE_KEY,
                "azure_storage_endpoint": endpoint,
                "azure_allow_http": "true",
            },
            lambda key, body: put(f"tiles/set/{quote(key)}", body, "blob"),
        )


@pytest.fixture(scope="session")
def gcs(tmp_path_factory):
    try:
        program = install.python_servers() / "gcp-storage-emulator"
    except install.Unavailable as error:
        pytest.skip(f"gcp-storage-emulator: {error}")
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    command = [program, "start", "--host", "127.0.0.1", "--port", port, "--in-memory", "--default-bucket", "tiles"]
    with running(command, port, tmp_path_factory.mktemp("gcs") / "log", env=without_proxies()):
        yield Store(
            "gs://tiles/set",
            {"google_base_url": endpoint, "google_skip_signature": "true", "google_allow_http": "true"},
            lambda key, body: (
                send(
                    f"{endpoint}/upload/storage/v1/b/tiles/o?uploadType=media&name={quote('set/' + key, safe='')}",
                    "POST",
                    body,
                    {"Content-Type": "application/octet-stream"},
                )
                and None
            ),
        )
