# A crawler: the node of docker-compose.yml with the cluster's stores. Sourced by deploy/aws/boot.
# shellcheck shell=bash

boot_crawler() {
    local database pages broker console profiles='' connections=4
    docker_packages
    swap 2048
    [ "$MONITORING" != true ] || profiles=monitoring
    [ "$RENDERING" != on ] || profiles="${profiles:+$profiles,}render"
    [ "$STUDIO" != on ] || profiles="${profiles:+$profiles,}studio"
    [ "$STUDIO" != on ] || connections=3 # the API has some of the database's connections, too
    database="$(password "$DATABASE_SECRET")" && pages="$(password "$PAGES_SECRET")" &&
        broker="$(password "$BROKER_SECRET")" && console="$(password "$CONSOLE_SECRET")" || die "a secret cannot be read"
    write_secret rabbitmq_admin "$console"
    write_secret rabbitmq_subsystems "$broker"
    write_secret rabbitmq_frontier "$broker"
    write_secret grafana "$console"
    write_secret postgres "$database"
    write_secret mongodb "$pages"
    [ "$STUDIO" != on ] || studio_secrets
    write_env <<ENV
COMPOSE_FILE=docker-compose.yml:deploy/aws/crawler.yml
COMPOSE_PROFILES=$profiles
NODE=$ID
ADDRESS=$ADDRESS
REGISTRY=$REGISTRY
WHIRLPOOL_VERSION=$RELEASE
SECRETS=./secrets
FETCH_ALLOW_PRIVATE_JOBS=false
LOCAL_STORES=0
POSTGRES_URL=postgres://whirlpool@$DATABASE:5432/whirlpool?sslmode=require
POSTGRES_LEDGER=$(ledger_urls)
MONGODB_URL=mongodb://whirlpool@$PAGES:27017/?authSource=admin
MEMCACHED_ADDRESSES=$CACHE
ZOOKEEPER_ADDRESSES=$ZOOKEEPER
WARC_DIRECTORY=/var/lib/whirlpool/warc
POSTGRES_CONNECTIONS=$connections
STUDIO_URL=${STUDIO_URL:-http://127.0.0.1:8711}
OIDC_ISSUER=$OIDC_ISSUER
OIDC_CLIENT_ID=$OIDC_CLIENT
OIDC_ROLES=$OIDC_ROLES
ENV
    load_images
    docker-compose up -d --no-build --wait --wait-timeout 900
    install_units
}

# ledger_urls: of the servers that have the ledger, in the order of LEDGER, which all nodes share; none where it is in
# the database
ledger_urls() {
    local address urls=''
    for address in ${LEDGER//,/ }; do
        urls="${urls:+$urls,}postgres://whirlpool@$address:5432/ledger?sslmode=require"
    done
    echo "$urls"
}

# studio_secrets: an admin's API key to begin with, and what the studio shows to who signs people in: nothing, where it
# is a public client
studio_secrets() {
    local key client=''
    key="$(password "$ADMIN_KEY_SECRET")" || die "the secret $ADMIN_KEY_SECRET cannot be read"
    if [ -n "$OIDC_SECRET" ]; then
        client="$(password "$OIDC_SECRET")" || die "the secret $OIDC_SECRET cannot be read: an administrator makes it, see docs/aws.md"
    fi
    write_secret api_admin "wpk_cluster0_$key"
    write_secret oidc_client "$client"
}

# load_images: those of the release, where no registry is named
load_images() {
    if [ -n "$REGISTRY" ]; then
        docker-compose pull -q
    else
        say "loading the images of $RELEASE"
        aws s3 cp --only-show-errors "s3://$BUCKET/$RELEASE/images.tar.gz" - | gzip -dc | docker load
        [ "$RENDERING" != on ] || aws s3 cp --only-show-errors "s3://$BUCKET/$RELEASE/renderer.tar.gz" - | gzip -dc | docker load
    fi
}

# install_units: finished WARC files go to S3 every ten minutes; a machine that the group wants to end leaves the ring
# first; where there is a studio, CloudWatch hears every minute whether it answers
install_units() {
    local unit units=(whirlpool-archive.timer whirlpool-leave.service)
    {
        echo "ARCHIVE=$ARCHIVE"
        echo "AWS_DEFAULT_REGION=$REGION"
        echo "STACK=$STACK"
        echo "NODE=$ID"
        echo "CLUSTER=$CLUSTER"
        echo "ADDRESS=$ADDRESS"
    } >/etc/whirlpool-node.env
    [ "$STUDIO" != on ] || units+=(whirlpool-studio.timer)
    for unit in whirlpool-archive.service whirlpool-archive.timer whirlpool-leave.service whirlpool-studio.service whirlpool-studio.timer; do
        install -m 644 "deploy/aws/$unit" /etc/systemd/system/
    done
    systemctl daemon-reload
    systemctl enable -q "${units[@]}"
    systemctl start "${units[@]}"
}
