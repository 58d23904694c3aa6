# The bastion: ssh and, unless there is a NAT gateway, the way of the others to the web. Sourced by deploy/aws/boot.
# shellcheck shell=bash

boot_bastion() {
    [ "$NAT" = instance ] || return 0
    packages nftables
    echo 'net.ipv4.ip_forward = 1' >/etc/sysctl.d/60-whirlpool-nat.conf
    sysctl -q -p /etc/sysctl.d/60-whirlpool-nat.conf
    install -m 644 deploy/aws/nat.nft /etc/nftables.conf
    nft -f /etc/nftables.conf
    systemctl enable nftables # at each start
}
