"""The address by which limits tell one client from another."""

from ipaddress import IPv6Address, ip_address, ip_network

_CUSTOMER = 64  # bits of an IPv6 address that identify a network; its owner chooses the other ones


def client_address_of(source: object) -> str | None:
    """Return a request's source address; for IPv6 the customer's network.

    None for this machine or an unknown address.
    """
    try:
        address = ip_address(str(source))
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped  # as a socket for both kinds has it
    if address.is_loopback:
        return None
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _CUSTOMER), strict=False))
    return str(address)
