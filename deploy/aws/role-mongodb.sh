# The machine of MongoDB, whose data directory is an XFS volume that outlives it. Sourced by deploy/aws/boot.
# shellcheck shell=bash

DATA=/var/lib/whirlpool-mongodb

boot_mongodb() {
    local secret
    docker_packages xfsprogs
    mount_data
    swap 1024
    secret="$(password "$SECRET")" || die "no password in the secret $SECRET"
    write_secret mongodb "$secret"
    write_env <<ENV
COMPOSE_FILE=docker-compose.yml:deploy/aws/mongodb.yml
ADDRESS=$ADDRESS
MONGODB_DATA=$DATA
SECRETS=./secrets
ENV
    docker-compose up -d --wait --wait-timeout 600 mongodb
}

# device: the volume as this machine sees it, by its id at current types, by its name at older ones
device() {
    local byid="/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_${VOLUME/-/}" name
    for name in "$byid" "$DEVICE" "${DEVICE/sd/xvd}"; do
        [ ! -b "$name" ] || { readlink -f "$name" && return; }
    done
    return 1
}

# mount_data: waits until the volume is attached, makes a file system where there is none (and only then), mounts it now
# and at each start
mount_data() {
    local disk='' kind
    for _ in $(seq 120); do
        ! disk="$(device)" || break
        sleep 5
    done
    [ -n "$disk" ] || die "the volume $VOLUME is not there after ten minutes"
    kind="$(blkid -p -o value -s TYPE "$disk" || [ $? = 2 ])" # 2: nothing known on it
    case "$kind" in
    '') mkfs.xfs -q -L whirlpool "$disk" ;;
    xfs) say "the volume has data already: it is kept" ;;
    *) die "the volume $VOLUME holds $kind, not XFS: it is left alone" ;;
    esac
    mkdir -p $DATA
    grep -q " $DATA " /etc/fstab || echo "UUID=$(blkid -p -o value -s UUID "$disk") $DATA xfs noatime,nofail,x-systemd.device-timeout=60 0 2" >>/etc/fstab
    mountpoint -q $DATA || mount -t xfs -o noatime "$disk" $DATA # by its name: its UUID may not be known to udev yet, and nofail would hide that
    mountpoint -q $DATA || die "$DATA is not mounted"
}
