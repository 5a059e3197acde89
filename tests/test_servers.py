"""The servers of the suite start, hold what is put into them, and give it back by plain HTTP."""

import ssl
import urllib.request


def test_nginx_serves_files_with_and_without_tls(nginx):
    (nginx.root / "hello").write_bytes(b"content")
    context = ssl.create_default_context(cafile=nginx.bundle)
    with urllib.request.urlopen(f"{nginx.url}/hello", timeout=30) as response:
        assert response.read() == b"content"
    with urllib.request.urlopen(f"{nginx.tls_url}/hello", timeout=30, context=context) as response:
        assert response.read() == b"content"


def test_s3_holds_an_object(s3):
    s3.put("a b/1.bin", b"content")
    # moto reads who asks, and checks no signature.
    who = "AWS4-HMAC-SHA256 Credential=access/20200101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
    url = f"{s3.options['aws_endpoint']}/tiles/set/a%20b/1.bin"
    request = urllib.request.Request(url, headers={"Authorization": who})
    with urllib.request.urlopen(request, timeout=30) as response:
        assert response.read() == b"content"


def test_azure_holds_a_blob(azure):
    azure.put("a b/1.bin", b"content")


def test_gcs_holds_an_object(gcs):
    gcs.put("a b/1.bin", b"content")
    url = f"{gcs.options['google_base_url']}/tiles/set/a%20b/1.bin"
    with urllib.request.urlopen(url, timeout=30) as response:
        assert response.read() == b"content"


def test_the_proxy_passes_requests_on(proxy, nginx):
    (nginx.root / "hello").write_bytes(b"content")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy.url}))
    with opener.open(f"{nginx.url}/hello", timeout=30) as response:
        assert response.read() == b"content"
    assert proxy.lines == [f"GET {nginx.url}/hello HTTP/1.1"]
