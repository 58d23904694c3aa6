# A member of the ZooKeeper ensemble. Sourced by deploy/aws/boot.
# shellcheck shell=bash

boot_zookeeper() {
    local servers='' i=0 member
    docker_packages
    swap 512
    for member in $MEMBERS; do
        i=$((i + 1))
        # itself it calls by no address: the container has another one than the machine
        [ $i != "$MEMBER" ] || member=0.0.0.0
        servers="$servers server.$i=$member:2888:3888;2181"
    done
    write_env <<ENV
COMPOSE_FILE=docker-compose.yml:deploy/aws/zookeeper.yml
COMPOSE_PROFILES=cluster
ADDRESS=$ADDRESS
ZOOKEEPER_MEMBER=$MEMBER
ZOOKEEPER_SERVERS="${servers# }"
ENV
    docker-compose up -d --wait --wait-timeout 600 zookeeper
}
