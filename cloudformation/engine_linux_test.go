package cloudformation_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// programs of a node.
var programs = slices.Sorted(slices.Values(append(crawl.StageNames(), "whirlpool")))

// beforeBoot starts an engine in the root, makes the images of a release with it and puts them where `make aws-images`
// would. The broker's image is made of Debian's package, as no registry is asked; it stands for the public one that the
// node would pull.
const beforeBoot = `
mount -t sysfs sysfs /sys && mount -t cgroup2 cgroup2 /sys/fs/cgroup && mount -t tmpfs tmpfs /run
mkdir -p /dev/pts /dev/shm && mount -t devpts devpts /dev/pts && mount -t tmpfs tmpfs /dev/shm
export DEBIAN_FRONTEND=noninteractive
{ apt-get -q update && apt-get -qy install --no-install-recommends docker.io docker-cli docker-compose curl; } >/engine.log 2>&1
dockerd --data-root /var/lib/docker >>/engine.log 2>&1 &
for i in $(seq 100); do docker info >/dev/null 2>&1 && break; sleep 0.2; done
for p in @PROGRAMS@; do
    mkdir -p /image/$p/var/lib/whirlpool && cp /programs/$p /image/$p/$p && chown -R 65532:65532 /image/$p/var/lib/whirlpool
    name=whirlpool-$p; [ $p != whirlpool ] || name=whirlpool
    tar -C /image/$p -c . | docker import -c 'USER 65532:65532' -c 'WORKDIR /var/lib/whirlpool' -c "ENTRYPOINT [\"/$p\"]" \
        -c "HEALTHCHECK --interval=2s --timeout=6s --start-period=30s CMD [\"/$p\", \"healthcheck\"]" - $name:@RELEASE@ >>/engine.log
    names="$names $name:@RELEASE@"
done
docker save $names | gzip -1 >/images.tar.gz && docker rmi $names >>/engine.log
curl -sSf -T /images.tar.gz -H 'Authorization: AWS4-HMAC-SHA256 Credential=@KEY@/1/@REGION@/s3/aws4_request,' http://127.0.0.1:8000/@BUCKET@/@RELEASE@/images.tar.gz
docker import -c 'ENV PATH=/usr/lib/rabbitmq/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' /rabbitmq.tar rabbitmq:3-management >>/engine.log
echo ready >>/engine.log
`

// afterBoot notes what runs.
const afterBoot = `
cd /opt/whirlpool
docker-compose ps -a --format '{{.Service}} {{.State}} {{.Health}}' >/ps.txt
docker-compose exec -T rabbitmq bash -c 'exec 3<>/dev/tcp/127.0.0.1/5672' && echo broker >>/ps.txt
curl -s -o /dev/null -w 'console %{http_code}\n' "http://$ADDRESS_LO:15672/" >>/ps.txt || true
docker-compose logs --no-color --tail 5 >/logs.txt 2>&1
`

// entrypoint stands for that of the public image.
const entrypoint = "#!/bin/bash\nmkdir -p /var/lib/rabbitmq && chown -R rabbitmq: /var/lib/rabbitmq " +
	"/var/log/rabbitmq\nexec setpriv --reuid=rabbitmq --regid=rabbitmq --init-groups env HOME=/var/lib/rabbitmq \"$@\"\n"

// TestUserDataMakeARunningNode goes one step further than TestUserDataMakeRunningMachines: with a real engine in the
// root, until the node's broker and programs run and are healthy. The stores are not there; the programs wait for them.
// It takes minutes and an engine's rights; WHIRLPOOL_TEST_ENGINE=1 asks for it.
func TestUserDataMakeARunningNode(t *testing.T) {
	if os.Getenv("WHIRLPOOL_TEST_ENGINE") == "" {
		t.Skip("starts a Docker engine in a root directory: ask with WHIRLPOOL_TEST_ENGINE=1")
	}
	var b *root
	started := false
	a := open(t, func(m *fakeaws.Machine) error {
		if m.Settings["ROLE"] != "crawler" || started {
			return fakeaws.Simulate(m)
		}
		started = true
		return runNode(t, b, m)
	})
	b = newRoot(t, a.URL)
	prepareNode(t, a, b)
	status, failures := a.create(map[string]string{"Crawlers": "1", "Monitoring": "false"})
	for _, f := range []string{"engine.log", "var/log/whirlpool-boot.log", "ps.txt", "logs.txt"} {
		if text, err := os.ReadFile(filepath.Join(b.dir, f)); err == nil {
			t.Logf("%s:\n%s", f, text[max(0, len(text)-3000):])
		}
	}
	if status != "CREATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	ps := b.read("ps.txt")
	if !strings.Contains(ps, "console 200") || !strings.Contains(ps, "broker\n") {
		t.Errorf("the broker does not answer:\n%s", ps)
	}
	for _, p := range append([]string{"rabbitmq"}, programs[:7]...) {
		if !strings.Contains(ps, p+" running healthy") {
			t.Errorf("%s does not run:\n%s", p, ps)
		}
	}
}

func runNode(t *testing.T, b *root, m *fakeaws.Machine) error {
	fill := strings.NewReplacer("@PROGRAMS@", strings.Join(programs, " "), "@RELEASE@", release, "@BUCKET@", bucket,
		"@KEY@", fakeaws.AdminKey, "@REGION@", fakeaws.Region)
	// the machine's address exists in its network
	head := "#!/bin/bash\nip address add " + m.Address + "/32 dev lo\n" + fill.Replace(beforeBoot) + "(\n"
	script := head + strings.TrimPrefix(m.UserData, "#!/bin/bash\n") + "\n)\nstatus=$?\n" + "ADDRESS_LO=" + m.Address +
		"\n" + afterBoot +
		"docker-compose down -t 5 >/dev/null 2>&1; kill %1; wait %1; exit $status\n"
	service := "http://127.0.0.1:8000"
	if err := b.run(script, []string{"AWS_ENDPOINT_URL=" + service,
		"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + service + "/machine/" + m.ID + "/", "IMDS=" + service + "/machine/" + m.ID,
		"AGENT_URL=", "WHIRLPOOL_BOOT_PIVOT=1"}); err != nil {
		t.Log(err)
		return fakeaws.ErrSilent
	}
	return nil
}

func prepareNode(t *testing.T, a *account, b *root) {
	t.Helper()
	bundle, err := exec.CommandContext(t.Context(), "tar", "-C", "..", "-cz", "docker-compose.yml", ".env.example",
		"deploy").Output()
	if err != nil {
		t.Fatal(err)
	}
	a.s3("PUT", bucket+"/"+release+"/node.tar.gz", string(bundle))
	b.write("usr/local/sbin/swapon", swaponStandIn, 0o755)
	// no systemd runs here
	b.write("usr/local/bin/systemctl", "#!/bin/sh\n[ \"$1\" != enable ] || exec /usr/bin/systemctl \"$@\"\n", 0o755)
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", filepath.Join(b.dir, "programs")+"/",
		"../services/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hook := filepath.Join(t.TempDir(), "entrypoint")
	if err := os.WriteFile(hook, []byte(entrypoint), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool(t, "mmdebstrap", "mmdebstrap"), "--variant=apt",
		"--include=rabbitmq-server,util-linux", "--dpkgopt=force-unsafe-io",
		"--customize-hook=copy-in "+hook+" /usr/local/bin",
		"--customize-hook=mv \"$1\"/usr/local/bin/entrypoint \"$1\"/usr/local/bin/docker-entrypoint.sh",
		"trixie", filepath.Join(b.dir, "rabbitmq.tar"), "http://deb.debian.org/debian").CombinedOutput()
	if err != nil {
		t.Fatalf("mmdebstrap: %v\n%s", err, out)
	}
}
