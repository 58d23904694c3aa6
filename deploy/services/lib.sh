# What the scripts of this directory share. Sourced, never run; it starts nothing.
# shellcheck shell=bash disable=SC2034 # used by the backends
#
# A set of services lives in a directory DIR:
#   DIR/backend   native or docker         DIR/ports  the address and one variable a port, kept for ever
#   DIR/env       export WHIRLPOOL_TEST_…  DIR/log    a log a service (native)
#   DIR/pids      pid and start time       DIR/<name> data of a service (native)
# A backend (native.sh, docker.sh) offers: prepare, launch NAME…, await NAME…, halt NAME…, kill_hard NAME…, remove.

SERVICES_HOME="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
ALL_SERVICES="rabbitmq postgres mongodb memcached zookeeper"
USER_NAME=whirlpool PASSWORD=whirlpool # of throw-away servers on loopback
TIMEOUT=${WHIRLPOOL_TEST_TIMEOUT:-600} # seconds until a service must answer

say() { printf '%s: %s\n' "services" "$*" >&2; }
die() {
    printf '%s: error: %s\n' "services" "$*" >&2
    exit 1
}

# usage: the comment at the head of the calling script
usage() { sed -n '/shellcheck/d; 2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; }

# parse_names WORD…: sets names to the services named, all of them without a word
parse_names() {
    local n
    names=("$@")
    # shellcheck disable=SC2206 # words wanted
    [ $# -gt 0 ] || names=($ALL_SERVICES)
    for n in "${names[@]}"; do
        case " $ALL_SERVICES " in
        *" $n "*) ;;
        *) die "no service is called $n; there are: $ALL_SERVICES" ;;
        esac
    done
}

# open_dir DIR: sets dir and the ports and loads the backend of services that `up` made
open_dir() {
    [ -n "${1:-}" ] || { usage && exit 2; }
    [ -f "$1/backend" ] || die "$1 holds no services: $SERVICES_HOME/up $1"
    dir="$(cd "$1" && pwd -P)"
    address=127.0.0.1
    # shellcheck disable=SC1091 # written by make_dir
    . "$dir/ports"
    # shellcheck source=/dev/null
    . "$SERVICES_HOME/$(cat "$dir/backend").sh"
}

# make_dir DIR BACKEND: the same for a directory that may be new
make_dir() {
    mkdir -p "$1/log" "$1/pids"
    case "$(cd "$1" && pwd -P)" in *[[:space:]]*) die "no white space in the directory's name, please: $1" ;; esac
    [ -f "$1/ports" ] || choose_ports >"$1/ports"
    [ -f "$1/backend" ] || echo "$2" >"$1/backend"
    [ "$(cat "$1/backend")" = "$2" ] || die "$1 holds services of the other kind: $SERVICES_HOME/down $1 --purge"
    open_dir "$1"
}

# port_open PORT [ADDRESS]: something listens there
port_open() { (exec 3<>"/dev/tcp/${2:-$address}/$1") 2>/dev/null; }

# choose_ports: eight free ports in a row, below those that the system gives to clients; WHIRLPOOL_TEST_PORT names the
# first
choose_ports() {
    local base i address="${WHIRLPOOL_TEST_ADDRESS:-127.0.0.1}"
    for _ in $(seq 100); do
        base=${WHIRLPOOL_TEST_PORT:-$((20000 + (RANDOM % 1200) * 10))}
        for i in 0 1 2 3 4 5 6 7; do ! port_open $((base + i)) || continue 2; done
        echo "address=$address"
        i=0
        for name in amqp api dist epmd postgres mongodb memcached zookeeper; do
            echo "port_$name=$((base + i))"
            i=$((i + 1))
        done
        return
    done
    die "found no eight free ports in a row ${WHIRLPOOL_TEST_PORT:+from $WHIRLPOOL_TEST_PORT, }between 20000 and 32000"
}

# write_env: DIR/env, the addresses as pkg/testkit/servicetest wants them
write_env() {
    local auth="$USER_NAME:$PASSWORD@$address"
    # shellcheck disable=SC2154 # the ports come from DIR/ports
    cat >"$dir/env" <<E
export WHIRLPOOL_TEST_AMQP='amqp://$auth:$port_amqp'
export WHIRLPOOL_TEST_RABBITMQ_API='http://$auth:$port_api'
export WHIRLPOOL_TEST_POSTGRES='postgres://$auth:$port_postgres/$USER_NAME?sslmode=disable'
export WHIRLPOOL_TEST_MONGODB='mongodb://$address:$port_mongodb/'
export WHIRLPOOL_TEST_MEMCACHED='$address:$port_memcached'
export WHIRLPOOL_TEST_ZOOKEEPER='$address:$port_zookeeper'
E
}
