# Services as processes of this machine, from Debian's packages. See lib.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154 # dir and the ports come from lib.sh
#
# Nothing of the system's own servers is used or changed: each process has its port, its data and its configuration in
# DIR, and RabbitMQ a node name, a cookie and a port mapper (epmd) of its own.

RABBITMQ=/usr/lib/rabbitmq/bin
JARS=/usr/share/java
LOOPBACK=127.0.0.1 # of what only a service itself talks to

# postgres_bin: the newest PostgreSQL there is
postgres_bin() { find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1 | xargs -r dirname; }

missing_packages() {
    [ -x $RABBITMQ/rabbitmq-server ] || echo rabbitmq-server
    [ -n "$(postgres_bin)" ] || echo postgresql
    command -v memcached >/dev/null || echo memcached
    command -v java >/dev/null || echo default-jre-headless
    [ -e $JARS/zookeeper.jar ] && [ -e $JARS/slf4j-simple.jar ] || echo libzookeeper-java
}

# can_run: says why not when this backend does not work here
can_run() {
    [ -f /etc/debian_version ] || { echo "this is no Debian" && return 1; }
    [ -z "$(missing_packages)" ] || [ "$(id -u)" = 0 ] ||
        { echo "not root, and these packages are not installed: $(missing_packages | xargs)" && return 1; }
}

prepare() {
    local reason
    reason="$(can_run)" || die "cannot run the services as processes here: $reason"
    install_packages
    build_ferretdb >/dev/null
}

install_packages() {
    local wanted policy=/usr/sbin/policy-rc.d log="$dir/log/apt.log" ok='' made='' get
    wanted="$(missing_packages | xargs)"
    [ -n "$wanted" ] || return 0
    say "installing with apt-get: $wanted"
    # no server of the system's own may come with the packages: neither started by their scripts, nor made by
    # PostgreSQL's
    [ -e $policy ] || { made=1 && printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy; }
    [ -e /etc/postgresql-common/createcluster.conf ] || {
        mkdir -p /etc/postgresql-common
        echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
    }
    get="env DEBIAN_FRONTEND=noninteractive apt-get -qy -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Options::=--force-confold"
    # shellcheck disable=SC2086 # words wanted
    { $get update && $get install --no-install-recommends $wanted; } >"$log" 2>&1 </dev/null && ok=1
    [ -z "$made" ] || rm -f $policy
    [ -n "$ok" ] || die "apt-get could not install $wanted:
$(tail -n 5 "$log")
(all of it: $log)"
}

# build_ferretdb: builds deploy/ferretdb when it changed; prints the program's path
build_ferretdb() {
    local source key binary cache="${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/whirlpool"
    source="$SERVICES_HOME/../ferretdb"
    key="$(cat "$source"/main.go "$source"/go.mod "$source"/go.sum | sha256sum | cut -c1-16)"
    binary="$cache/ferretdb-$key"
    if [ ! -x "$binary" ]; then
        say "building the stand-in for MongoDB (once, up to three minutes)"
        mkdir -p "$cache"
        (cd "$source" && GOWORK=off CGO_ENABLED=0 "${GO:-go}" build -trimpath -tags ferretdb_no_postgresql -ldflags '-s -w' -o "$binary.$$" .) >&2 ||
            die "the stand-in for MongoDB in $source does not build (see above)"
        mv "$binary.$$" "$binary"
    fi
    echo "$binary"
}

# --- processes ---

# start_of PID: when a live process began; tells it from a later one with the same number
start_of() {
    local stat
    stat="$(cat "/proc/$1/stat" 2>/dev/null)" || return 1
    # shellcheck disable=SC2086 # the fields after the name, which may hold blanks
    set -- ${stat##*) }
    [ "$1" != Z ] && echo "${20}"
}

# running NAME: its recorded process lives; sets pid
running() {
    local start
    read -r pid start 2>/dev/null <"$dir/pids/$1" && [ "$(start_of "$pid")" = "$start" ]
}

# spawn NAME PORT COMMAND…: runs COMMAND detached from this script and its terminal
spawn() {
    local name="$1" port="$2" deadline=$((SECONDS + 5))
    shift 2
    # a server of many threads that was stopped just now looks dead, because its first thread is, a moment before its
    # port is free
    while port_open "$port" && [ $SECONDS -lt $deadline ]; do sleep 0.05; done
    ! port_open "$port" || die "port $port of $name is taken by another program: free it, or $SERVICES_HOME/down $dir --purge and up again"
    (cd / && exec setsid "$@") </dev/null >>"$dir/log/$name.log" 2>&1 &
    echo "$! $(start_of $!)" >"$dir/pids/$name"
    disown $!
}

launch() {
    local name
    for name in "$@"; do
        running "$name" || "start_$name"
    done
}

await() {
    local name deadline=$((SECONDS + TIMEOUT))
    for name in "$@"; do
        until "ready_$name" 2>/dev/null; do
            running "$name" || die "$name ended at its start: $(tail -n 3 "$dir/log/$name.log") (log: $dir/log/$name.log)"
            [ $SECONDS -lt $deadline ] || die "$name does not answer after $TIMEOUT s (log: $dir/log/$name.log)"
            sleep 0.1
        done
        running "$name" || die "another program answers on the port of $name (log: $dir/log/$name.log)"
    done
}

# halt NAME…: asks them to stop, all at once, and kills what does not within 30 s
halt() {
    local name deadline=$((SECONDS + 30))
    for name in "$@"; do
        running "$name" || continue
        case "$name" in
        postgres) kill -INT "$pid" ;; # "fast": does not wait for its clients
        *) kill -TERM "$pid" ;;
        esac
    done
    for name in "$@"; do
        while running "$name" && [ $SECONDS -lt $deadline ]; do sleep 0.05; done
        ! running "$name" || { say "$name did not stop within 30 s: killed" && kill_hard "$name"; }
        rm -f "$dir/pids/$name"
    done
}

# kill_hard NAME…: kill -9, its children too (PostgreSQL's would hold the data directory)
kill_hard() {
    local name child children
    for name in "$@"; do
        running "$name" || continue
        children="$(cat "/proc/$pid/task/$pid/children" 2>/dev/null || true)"
        # shellcheck disable=SC2086 # words wanted
        kill -KILL "$pid" $children 2>/dev/null || true
        for child in $pid $children; do
            while start_of "$child" >/dev/null; do sleep 0.02; done
        done
        rm -f "$dir/pids/$name"
    done
}

remove() {
    # shellcheck disable=SC2086 # words wanted
    kill_hard $ALL_SERVICES epmd
    rm -rf "${dir:?}"/{log,pids,bin,env,ports,backend,rabbitmq,postgres,mongodb,zookeeper}
    rmdir "$dir" 2>/dev/null || true
}

# --- the services ---

start_rabbitmq() {
    local home="$dir/rabbitmq" tool settings
    mkdir -p "$home" "$dir/bin"
    cat >"$home/rabbitmq.conf" <<E
listeners.tcp.1 = $address:$port_amqp
management.tcp.ip = $address
management.tcp.port = $port_api
default_user = $USER_NAME
default_pass = $PASSWORD
loopback_users = none
disk_free_limit.absolute = 50MB
log.console = true
log.file = false
E
    echo '[rabbitmq_management].' >"$home/enabled_plugins"
    : >"$home/rabbitmq-env.conf"
    settings=(HOME="$home" LANG=C.UTF-8 ERL_EPMD_PORT="$port_epmd" ERL_EPMD_ADDRESS="$LOOPBACK"
        RABBITMQ_NODENAME="whirlpool-$port_amqp@localhost" RABBITMQ_DIST_PORT="$port_dist"
        RABBITMQ_CONFIG_FILE="$home/rabbitmq.conf" RABBITMQ_CONF_ENV_FILE="$home/rabbitmq-env.conf"
        RABBITMQ_ENABLED_PLUGINS_FILE="$home/enabled_plugins" RABBITMQ_MNESIA_BASE="$home/data"
        RABBITMQ_GENERATED_CONFIG_DIR="$home/generated" RABBITMQ_LOG_BASE="$dir/log" RABBITMQ_PID_FILE="$home/pid")
    for tool in rabbitmqctl rabbitmq-diagnostics; do # for people, and for tests that raise an alarm
        printf '#!/bin/sh\nexec env %s RABBITMQ_CTL_ERL_ARGS="-start_epmd false" %s/%s "$@"\n' "${settings[*]}" $RABBITMQ $tool >"$dir/bin/$tool"
        chmod +x "$dir/bin/$tool"
    done
    start_epmd
    # the script becomes the server (so that its pid is the server's) only when it believes that systemd runs it
    spawn rabbitmq "$port_amqp" env "${settings[@]}" RUNNING_UNDER_SYSTEMD=true \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-start_epmd false +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}' $RABBITMQ/rabbitmq-server
}

start_epmd() {
    ! running epmd || return 0
    spawn epmd "$port_epmd" env ERL_EPMD_RELAXED_COMMAND_CHECK=1 epmd -port "$port_epmd" -address $LOOPBACK
    local deadline=$((SECONDS + 10))
    until port_open "$port_epmd" $LOOPBACK; do
        if ! running epmd || [ $SECONDS -ge $deadline ]; then
            die "Erlang's port mapper does not start (log: $dir/log/epmd.log)"
        fi
        sleep 0.05
    done
}

# ready_rabbitmq: the broker listens, and its management API knows the user
ready_rabbitmq() {
    local status
    port_open "$port_amqp" && port_open "$port_api" || return 1
    exec 5<>"/dev/tcp/$address/$port_api"
    printf 'GET /api/whoami HTTP/1.0\r\nHost: localhost\r\nAuthorization: Basic %s\r\n\r\n' \
        "$(printf %s "$USER_NAME:$PASSWORD" | base64 -w0)" >&5
    read -r -t 5 _ status _ <&5
    exec 5>&-
    [ "$status" = 200 ]
}

# as_postgres: how to run PostgreSQL, which refuses to run as root; gives it DIR/postgres
as_postgres() {
    run_as=()
    [ "$(id -u)" = 0 ] || return 0
    run_as=(setpriv --reuid=postgres --regid=postgres --init-groups)
    chmod go+x "$dir"
    "${run_as[@]}" test -x "$dir" || die "the user postgres cannot enter $dir, because a directory above is closed to it: choose another, in /tmp for example"
    chown -R postgres: "$dir/postgres"
}

start_postgres() {
    local home="$dir/postgres" bin run_as
    bin="$(postgres_bin)"
    mkdir -p "$home"
    as_postgres
    if [ ! -s "$home/PG_VERSION" ]; then
        rm -rf "${home:?}"/*
        # no password is asked for: on loopback or in a network of the tests' own, and one that stands in this
        # repository would keep nobody out
        (cd / && "${run_as[@]}" "$bin/initdb" -D "$home" -U "$USER_NAME" --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync) \
            >>"$dir/log/postgres.log" 2>&1 ||
            die "PostgreSQL could not make its data directory (log: $dir/log/postgres.log)"
        case "$address" in 127.*) ;; *) echo 'host all all samenet trust' >>"$home/pg_hba.conf" ;; esac
    fi
    # a killed server leaves its lock file, and believes in it as long as its process is a zombie that nobody reaps
    [ ! -s "$home/postmaster.pid" ] || start_of "$(head -n 1 "$home/postmaster.pid")" >/dev/null || rm -f "$home/postmaster.pid"
    # A commit must outlive kill -9 of the server, and it does once it is written (synchronous_commit); fsync guards
    # against the loss of the machine, which no test brings about, and takes half the rate of small commits (measured:
    # 1,577/s for 3,666; those of 500 rows lose 3 %). Full page writes stay: a killed write may leave half a page.
    spawn postgres "$port_postgres" "${run_as[@]}" "$bin/postgres" -D "$home" -c "listen_addresses=$address" -c "port=$port_postgres" \
        -c unix_socket_directories= -c max_connections=300 -c shared_buffers=256MB -c max_wal_size=2GB -c fsync=off
}

sql() {
    PGCONNECT_TIMEOUT=5 "$(postgres_bin)/psql" -h "$address" -p "$port_postgres" -U "$USER_NAME" -d postgres -qAtc "$1"
}

# ready_postgres: it answers, and the database of the user's name is there
ready_postgres() {
    port_open "$port_postgres" || return 1
    case "$(sql "select count(*) from pg_database where datname = '$USER_NAME'")" in
    1) ;;
    0) sql "create database $USER_NAME" ;;
    *) return 1 ;;
    esac
}

start_memcached() {
    local user=()
    [ "$(id -u)" != 0 ] || user=(-u nobody)
    spawn memcached "$port_memcached" memcached -l "$address" -p "$port_memcached" -U 0 -m 64 "${user[@]}"
}
ready_memcached() { port_open "$port_memcached"; }

start_mongodb() {
    local open=()
    case "$address" in 127.*) ;; *) open=(-open) ;; esac
    # its heap is small and soon full of garbage; collected less often, a crawl of 600 pages takes 1.8 s of CPU, not 2.6
    spawn mongodb "$port_mongodb" env GOGC=400 "$(build_ferretdb)" -listen "$address:$port_mongodb" -data "$dir/mongodb" "${open[@]}"
}
ready_mongodb() { port_open "$port_mongodb"; }

start_zookeeper() {
    local home="$dir/zookeeper"
    mkdir -p "$home/data"
    # short ticks: sessions may be as short as two of them, and tests wait for some to expire; longer ones than usual
    # for slow machines
    cat >"$home/zoo.cfg" <<E
tickTime=500
maxSessionTimeout=60000
dataDir=$home/data
clientPort=$port_zookeeper
clientPortAddress=$address
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
E
    # forceSync=no: as with PostgreSQL's fsync
    spawn zookeeper "$port_zookeeper" java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dzookeeper.jmx.log4j.disable=true \
        -Dzookeeper.forceSync=no -cp $JARS/zookeeper.jar:$JARS/slf4j-simple.jar org.apache.zookeeper.server.quorum.QuorumPeerMain "$home/zoo.cfg"
}
ready_zookeeper() {
    local answer=''
    port_open "$port_zookeeper" || return 1
    exec 5<>"/dev/tcp/$address/$port_zookeeper"
    printf ruok >&5
    read -r -t 2 answer <&5 || true
    exec 5>&-
    [ "$answer" = imok ]
}
