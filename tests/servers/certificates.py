"""A private authority and what it signs, made anew for each run."""

import ssl
from datetime import UTC, datetime, timedelta

import pytest


class Authority:
    """A certificate authority that no system trusts."""

    def __init__(self, folder):
        import trustme

        self._ca = trustme.CA()
        self._folder = folder
        self.bundle = str(folder / "ca.pem")
        self._ca.cert_pem.write_to_path(self.bundle)

    def issue(self, *names, expired=False):
        """Paths of a certificate chain and of its key."""
        until = datetime.now(UTC) - timedelta(days=1) if expired else None
        made = self._ca.issue_cert(*names, not_after=until)
        stem = self._folder / f"{'-'.join(names).replace(':', '_')}{'-expired' if expired else ''}"
        chain, key = stem.with_suffix(".crt"), stem.with_suffix(".key")
        chain.write_bytes(b"".join(blob.bytes() for blob in made.cert_chain_pems))
        made.private_key_pem.write_to_path(str(key))
        return str(chain), str(key)

    def server_context(self, *names, expired=False):
        """What a server for these names (and addresses) shows."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(*names, expired=expired))
        return context


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))
