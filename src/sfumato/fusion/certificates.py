"""The key and the certificate with which a party proves its identity, and what it accepts from others.

Every party makes its own key and a self-signed certificate. The others keep a copy of the certificate; no
authority is involved, and no other certificate is accepted in its place.
"""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato._optional import import_optional
from sfumato.errors import InvalidParameterError, ReadError, WriteError

if TYPE_CHECKING:
    from cryptography import x509

VALID = timedelta(days=730)
CLOCKS_DIFFER = timedelta(days=1)
PRIVATE = 0o600


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """The files of a party's key, which nobody else may see, and its certificate, which the others get."""

    key: Path
    certificate: Path


def create_credentials(name: str, folder: Path) -> Credentials:
    """Make a key and a certificate for a party, as `NAME.key` and `NAME.crt`; existing ones are never overwritten."""
    _require_cryptography()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    made = Credentials(key=folder / f"{name}.key", certificate=folder / f"{name}.crt")
    key = ec.generate_private_key(ec.SECP256R1())
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write_private(made.key, secret, PRIVATE)
    _write_private(made.certificate, _certificate(name, key).public_bytes(serialization.Encoding.PEM), 0o644)
    return made


def read_certificate(path: Path, name: str) -> bytes:
    """Read the certificate of a party, as the bytes that it will show; refuse one made for another name."""
    _require_cryptography()
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.x509.oid import NameOID

    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
    except OSError as error:
        raise ReadError(f"The certificate {path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise ReadError(f"{path} is not a certificate; ask party {name!r} for its .crt file.") from None
    named = [str(each.value) for each in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if named != [name]:
        raise ReadError(f"The certificate {path} was not made for party {name!r}; correct the name or the file.")
    return certificate.public_bytes(serialization.Encoding.DER)


def certificate_fingerprint(certificate: bytes) -> str:
    """Return what owners compare by telephone: the SHA-256 of a certificate's bytes, in groups of four digits.

    >>> certificate_fingerprint(b"")[:19]
    'E3B0 C442 98FC 1C14'
    """
    digits = sha256(certificate).hexdigest().upper()
    return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))


def tls_context(identity: Credentials, trusted: Iterable[bytes], *, server: bool) -> ssl.SSLContext:
    """Prepare TLS 1.3 connections in which both sides show certificates, and only the trusted ones are accepted.

    Parameters
    ----------
    identity : the identity of this party.
    trusted : the certificates of the others. Their names are compared when they are read: what counts here is that
        exactly the same certificate is shown.
    server : whether others connect to this party.
    """
    _check_key_permissions(identity.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    try:
        context.load_cert_chain(identity.certificate, identity.key, password="")
    except (OSError, ValueError):
        raise ReadError(
            f"The key {identity.key} and the certificate {identity.certificate} are missing, broken or do not belong "
            "together; create them with `sfumato party init`."
        ) from None
    context.load_verify_locations(cadata=b"".join(trusted))
    if server:
        context.num_tickets = 0
    return context


def _require_cryptography() -> None:
    import_optional("cryptography", extra="parties", error=InvalidParameterError)


def _certificate(name: str, key: object) -> x509.Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    assert isinstance(key, ec.EllipticCurvePrivateKey)  # noqa: S101 - made above; the type is loaded only here
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCKS_DIFFER)
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )


def _write_private(path: Path, content: bytes, mode: int) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {error.strerror}; choose another folder.") from None


def _check_key_permissions(key: Path) -> None:
    """Refuse a key that other users of the machine may read, if the system supports that."""
    try:
        mode = key.stat().st_mode
    except OSError as error:
        raise ReadError(f"The key {key} cannot be read: {error.strerror}.") from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise ReadError(f"Other users may read the key {key}; make it private with `chmod 600`.")
