package cloudformation_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
)

// Stand-ins in the root. There is no engine in it: docker-compose lets the real one read the files and what is in .env,
// keeps what comes out, and starts nothing. Swap would be the host's.
const (
	composeStandIn = `#!/bin/sh
echo "docker-compose $*" >>/calls
case "$1" in
up) [ ! -e /fail ] && /usr/bin/docker-compose config --format json >/compose.json ;;
esac
`
	dockerStandIn = `#!/bin/sh
echo "docker $*" >>/calls
case "$1" in load) cat >/images ;; volume) echo /spool ;; esac
`
	swaponStandIn = "#!/bin/sh\necho \"swapon $*\" >>/calls\n"
	agentStandIn  = "#!/bin/sh\necho \"agent $*\" >>/calls\nfor a; do case \"$a\" in file:*) cat \"${a#file:}\" " +
		">/agent.json;; esac; done\n"
)

// boots runs the user data of machines in one root, one after the other, as cloud-init would.
type boots struct {
	*root
	mu      sync.Mutex
	loop    string // the volume
	started map[string]bool
	checks  map[string]func(m *fakeaws.Machine)
}

func TestUserDataMakeRunningMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("installs a Debian")
	}
	if os.Getuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("needs root, to make a root directory with namespaces of its own")
		}
		t.Skip("needs root, to make a root directory with namespaces of its own")
	}
	t.Parallel()
	b := &boots{started: map[string]bool{}}
	a := open(t, func(m *fakeaws.Machine) error { return b.boot(m) })
	b.root = newRoot(t, a.URL)
	b.prepare(a)
	b.checks = map[string]func(*fakeaws.Machine){"bastion": b.bastion, "mongodb": b.mongodb, "zookeeper": b.zookeeper,
		"crawler": func(m *fakeaws.Machine) { b.crawler(a, m) }}
	if status, failures := a.create(studio(map[string]string{"Crawlers": "2"})); status != "CREATE_COMPLETE" {
		t.Fatalf("%s\n%s\n%s", status, failures, b.read("var/log/whirlpool-boot.log"))
	}
	for role := range b.checks {
		if !b.started[role] {
			t.Errorf("no %s was started", role)
		}
	}
	for _, action := range []string{"cloudformation:SignalResource", "secretsmanager:GetSecretValue", "s3:GetObject"} {
		if !slices.Contains(a.Calls(), action) {
			t.Errorf("no machine called %s", action)
		}
	}

	// A start that fails is told to the stack, which rolls back.
	b.write("fail", "", 0o644)
	clear(b.started)
	b.checks = nil
	a.must("cloudformation", "UpdateStack",
		parameters(studio(map[string]string{"Crawlers": "2", "Monitoring": "false"}))...)
	status, failures := a.settled()
	if !strings.HasPrefix(status, "UPDATE_ROLLBACK") || !strings.Contains(failures, "FAILURE signal") {
		t.Errorf("containers that do not start: %s\n%s", status, failures)
	}
}

// studio has parameters of a cluster with a studio, too, and with a ledger on two servers of its own.
func studio(p map[string]string) map[string]string {
	maps.Copy(p, balanced)
	return spread(2, p)
}

// prepare puts the release into the bucket and the stand-ins into the root.
func (b *boots) prepare(a *account) {
	b.t.Helper()
	bundle, err := exec.CommandContext(b.t.Context(), "tar", "-C", "..", "-cz", "docker-compose.yml", ".env.example",
		"deploy").Output()
	if err != nil {
		b.t.Fatal(err)
	}
	a.s3("PUT", bucket+"/"+release+"/node.tar.gz", string(bundle))
	var images bytes.Buffer
	z := gzip.NewWriter(&images)
	_, err = z.Write([]byte("images"))
	if err = errors.Join(err, z.Close()); err != nil {
		b.t.Fatal(err)
	}
	a.s3("PUT", bucket+"/"+release+"/images.tar.gz", images.String())
	b.write("usr/local/bin/docker-compose", composeStandIn, 0o755)
	b.write("usr/local/bin/docker", dockerStandIn, 0o755)
	b.write("usr/local/sbin/swapon", swaponStandIn, 0o755)
	home := "agent/opt/aws/amazon-cloudwatch-agent"
	b.write(home+"/bin/amazon-cloudwatch-agent-ctl", agentStandIn, 0o755)
	b.write(home+"/etc/.keep", "", 0o644)
	b.write("agent/DEBIAN/control", "Package: amazon-cloudwatch-agent\nVersion: 1\nArchitecture: all\n"+
		"Maintainer: nobody <nobody@example.com>\nDescription: stand-in\n", 0o644)
	if out, err := exec.CommandContext(b.t.Context(), "dpkg-deb", "-Zgzip", "-b", filepath.Join(b.dir, "agent"),
		filepath.Join(b.dir, "agent.deb")).CombinedOutput(); err != nil {
		b.t.Fatalf("%v\n%s", err, out)
	}
	volume := filepath.Join(b.t.TempDir(), "volume")
	if err := errors.Join(os.WriteFile(volume, nil, 0o600), os.Truncate(volume, 320<<20)); err != nil {
		b.t.Fatal(err)
	}
	out, err := exec.CommandContext(b.t.Context(), tool(b.t, "losetup", "mount"), "--show", "-f", volume).Output()
	if err != nil {
		b.t.Fatalf("losetup: %v", err)
	}
	b.loop = strings.TrimSpace(string(out))
	b.t.Cleanup(func() { _ = exec.Command("losetup", "-d", b.loop).Run() })
}

// boot runs the user data of the first machine of each role; the others behave like simulated ones.
func (b *boots) boot(m *fakeaws.Machine) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	role := m.Settings["ROLE"]
	if b.started[role] {
		return fakeaws.Simulate(m)
	}
	b.started[role] = true
	if v := m.Settings["VOLUME"]; v != "" {
		if err := m.AwaitVolume(v); err != nil {
			return err
		}
	}
	script := m.UserData
	if role == "mongodb" { // the volume appears under the name that current machine types give it
		name := "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_" + strings.Replace(m.Settings["VOLUME"], "-", "", 1)
		script = strings.Replace(script, "\n", "\nmkdir -p /dev/disk/by-id && ln -sfn "+b.loop+" "+name+"\n", 1)
	}
	if role == "bastion" { // what is true of its network ends with it
		script += "nft -j list ruleset >/ruleset.json; cat /proc/sys/net/ipv4/ip_forward >/forward\n"
	}
	if role == "mongodb" {
		script += "findmnt -no FSTYPE,OPTIONS /var/lib/whirlpool-mongodb >/mounted; touch /var/lib/whirlpool-mongodb/page\n"
	}
	for _, f := range []string{"calls", "compose.json", "opt/whirlpool", "etc/fstab", "swapfile",
		"var/log/whirlpool-boot.log"} {
		if err := os.RemoveAll(filepath.Join(b.dir, f)); err != nil {
			return err
		}
	}
	b.write("etc/fstab", "", 0o644)
	err := b.run(script, b.environment(m), b.loop)
	if err != nil {
		b.t.Logf("%s: %v", role, err)
		return fakeaws.ErrSilent // it has to say so itself
	}
	if check := b.checks[role]; check != nil {
		check(m)
		b.common(m)
	}
	return nil
}

// environment leads a machine's commands to the fake.
func (b *boots) environment(m *fakeaws.Machine) []string {
	service := "http://127.0.0.1:8000"
	return []string{"AWS_ENDPOINT_URL=" + service,
		"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + service + "/machine/" + m.ID + "/", "IMDS=" + service + "/machine/" + m.ID,
		"AGENT_URL=file:///agent.deb"}
}
