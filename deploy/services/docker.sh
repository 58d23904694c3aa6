# Services as containers, by Docker Compose. See lib.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154 # dir and the ports come from lib.sh

compose() {
    env PORT_AMQP="$port_amqp" PORT_API="$port_api" PORT_POSTGRES="$port_postgres" PORT_MONGODB="$port_mongodb" \
        PORT_MEMCACHED="$port_memcached" PORT_ZOOKEEPER="$port_zookeeper" USER_NAME="$USER_NAME" PASSWORD="$PASSWORD" \
        docker compose -p "whirlpool-test-$port_amqp" -f "$SERVICES_HOME/compose.yml" --progress quiet "$@" </dev/null
}

# can_run: says why not when this backend does not work here
can_run() {
    [ "${WHIRLPOOL_TEST_ADDRESS:-127.0.0.1}" = 127.0.0.1 ] || { echo "containers are reached on 127.0.0.1 only" && return 1; }
    command -v docker >/dev/null || { echo "there is no docker command" && return 1; }
    docker version >/dev/null 2>&1 || { echo "no Docker engine answers" && return 1; }
    docker compose version >/dev/null 2>&1 || { echo "Docker has no compose plug-in" && return 1; }
    local image
    sed -n 's/^ *image: //p' "$SERVICES_HOME/compose.yml" | while read -r image; do
        docker image inspect "$image" >/dev/null 2>&1 || pull "$image" || { echo "the image $image cannot be had" && return 1; }
    done
}

pull() {
    say "pulling $1"
    docker pull -q "$1" >/dev/null </dev/null
}

prepare() {
    local reason
    reason="$(can_run)" || die "cannot run the services as containers here: $reason"
}

launch() { compose up -d --no-recreate "$@"; }

await() {
    compose up -d --no-recreate --wait --wait-timeout "$TIMEOUT" "$@" || {
        compose logs --no-color >"$dir/log/containers.log" 2>&1 || true
        compose ps -a --format '{{.Service}}: {{.Status}}' >&2 || true
        die "not all were ready after $TIMEOUT s (log: $dir/log/containers.log)"
    }
}

halt() { compose stop -t 30 "$@"; }
kill_hard() { compose kill -s KILL "$@"; }

remove() {
    compose down -v -t 0
    rm -rf "${dir:?}"/{log,pids,env,ports,backend}
    rmdir "$dir" 2>/dev/null || true
}
