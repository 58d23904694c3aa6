# What the roles share. Sourced by deploy/aws/boot.
# shellcheck shell=bash

say() { echo "$(date -u +%FT%TZ) $*"; }
die() {
    say "error: $*"
    exit 1
}

# packages NAME…: from Debian
packages() {
    say "installing $*"
    apt-get -qy -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold install --no-install-recommends "$@"
}

# docker_packages: the engine and Compose
docker_packages() {
    packages docker.io docker-cli docker-compose "$@"
    systemctl enable -q docker
    systemctl start docker
}

# password SECRET: of a secret. Never on a command line or in the log.
password() {
    aws secretsmanager get-secret-value --secret-id "$1" --query SecretString --output text |
        sed -n 's/.*"password" *: *"\([A-Za-z0-9_-]\{1,\}\)".*/\1/p' | grep .
}

# swap MIB: the small machines need room for what seldom runs
swap() {
    [ ! -e /swapfile ] || return 0
    install -m 600 /dev/null /swapfile
    fallocate -l "$1M" /swapfile
    mkswap -q /swapfile
    swapon /swapfile
    echo '/swapfile none swap sw 0 0' >>/etc/fstab
}

# write_secret NAME PASSWORD: a file that containers get. They are other users, so it is the directory that keeps others
# out.
write_secret() {
    [ -d secrets ] || install -d -m 700 secrets
    (umask 222 && printf '%s\n' "$2" >"secrets/$1.new")
    mv "secrets/$1.new" "secrets/$1"
}

# write_env: .env from standard input
write_env() {
    (umask 077 && cat >.env.new)
    mv .env.new .env
}

# watch_machine: memory, disk and the log of the start go to CloudWatch. A machine without it works: its alarms tell.
watch_machine() {
    local deb url=${AGENT_URL-https://amazoncloudwatch-agent-$REGION.s3.$REGION.amazonaws.com/debian/amd64/latest/amazon-cloudwatch-agent.deb}
    [ -n "$url" ] || return 0
    deb="$(mktemp)"
    if ! { curl -sSf --retry 5 -m 300 -o "$deb" "$url" && dpkg -i "$deb" && configure_agent; }; then
        say "warning: the CloudWatch agent does not run, figures and logs of this machine will be missing"
    fi
    rm -f "$deb"
}

# configure_agent: two figures a machine, and for crawlers two for all of them together: each figure costs
configure_agent() {
    local home=/opt/aws/amazon-cloudwatch-agent dimension=InstanceId
    [ "$ROLE" != crawler ] || dimension=AutoScalingGroupName
    sed -e "s|@DIMENSION@|$dimension|" -e "s|@LOG@|/whirlpool/$CLUSTER|" -e "s|@STREAM@|$ROLE/$ID|" deploy/aws/cloudwatch.json >$home/etc/whirlpool.json &&
        $home/bin/amazon-cloudwatch-agent-ctl -a fetch-config -m ec2 -s -c file:$home/etc/whirlpool.json
}
