package cloudformation_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// common is what holds for every machine: it says what it did, and no secret.
func (b *boots) common(m *fakeaws.Machine) {
	log := b.read("var/log/whirlpool-boot.log")
	if !strings.HasSuffix(strings.TrimSpace(log), "done") {
		b.t.Errorf("%s: the log does not end well:\n%s", m.Settings["ROLE"], log)
	}
	for _, o := range m.Server.Objects("AWS::SecretsManager::Secret") {
		if strings.Contains(log, m.Server.Secret(o.ID, "password")) {
			b.t.Errorf("%s: a password is in the log", m.Settings["ROLE"])
		}
	}
	var agent map[string]any
	if err := json.Unmarshal([]byte(b.read("agent.json")), &agent); err != nil ||
		strings.Contains(b.read("agent.json"), "@") {
		b.t.Errorf("the agent's configuration: %v", err)
	}
}

func (b *boots) bastion(*fakeaws.Machine) {
	if got := b.read("ruleset.json"); !strings.Contains(got, `"masquerade"`) ||
		!strings.Contains(got, `"policy": "drop"`) {
		b.t.Errorf("the bastion's rules: %s", got)
	}
	if got := strings.TrimSpace(b.read("forward")); got != "1" {
		b.t.Errorf("the bastion forwards: %q", got)
	}
	b.enabled("nftables.service")
}

func (b *boots) mongodb(m *fakeaws.Machine) {
	if got := b.read("mounted"); !strings.HasPrefix(got, "xfs") {
		b.t.Errorf("the data directory is mounted as %q", got)
	}
	if got := b.read("etc/fstab"); !strings.Contains(got, " /var/lib/whirlpool-mongodb xfs ") {
		b.t.Errorf("fstab: %s", got)
	}
	service := b.service("mongodb")
	if got := fmt.Sprint(service["ports"]); !strings.Contains(got, m.Address) || !strings.Contains(got, "27017") {
		b.t.Errorf("MongoDB listens on %s", got)
	}
	if got := fmt.Sprint(service["volumes"]); !strings.Contains(got, "/var/lib/whirlpool-mongodb/db") {
		b.t.Errorf("MongoDB's data are in %s", got)
	}
	// A machine that takes over the volume keeps what is on it; one that finds something else leaves it alone.
	again := "set -Eeuo pipefail; cd /opt/whirlpool; . deploy/aws/lib.sh; . deploy/aws/role-mongodb.sh; VOLUME=vol-1 " +
		"DEVICE=" + b.loop + "; mount_data"
	if err := b.run("#!/bin/bash\n"+again+"; test -e /var/lib/whirlpool-mongodb/page\n", nil, b.loop); err != nil {
		b.t.Errorf("the volume at a second machine: %v", err)
	}
	other := "#!/bin/bash\nset -e; cp " + b.loop + " /kept; mkswap -q -f " + b.loop + "\n(" + again +
		") && exit 1; blkid -p -o value -s TYPE " + b.loop + " | grep -q swap; cp /kept " + b.loop + "; rm /kept\n"
	if err := b.run(other, nil, b.loop); err != nil {
		b.t.Errorf("a volume with something else on it: %v", err)
	}
}

func (b *boots) zookeeper(m *fakeaws.Machine) {
	service := b.service("zookeeper")
	environment, _ := service["environment"].(map[string]any)
	members := strings.Fields(m.Settings["MEMBERS"])
	want := fmt.Sprintf("server.1=0.0.0.0:2888:3888;2181 server.2=%s:2888:3888;2181 server.3=%s:2888:3888;2181",
		members[1], members[2])
	if environment["ZOO_SERVERS"] != want || fmt.Sprint(environment["ZOO_MY_ID"]) != "1" || m.Address != members[0] {
		b.t.Errorf("ZooKeeper is told %v, member %s of %v; want %s", environment["ZOO_SERVERS"], m.Address, members, want)
	}
}

func (b *boots) crawler(a *account, m *fakeaws.Machine) {
	secret := func(name string) string {
		for _, o := range a.Objects("AWS::SecretsManager::Secret") {
			if strings.Contains(o.ID, "/"+name+"-") {
				return a.Secret(o.ID, "password")
			}
		}
		return ""
	}
	service := b.service("fetcher")
	if service["image"] != "whirlpool-fetcher:"+release {
		b.t.Errorf("the fetcher's image: %v", service["image"])
	}
	// the programs take what they are told
	config, pages := b.settings("fetcher"), b.settings("contentseen")
	if config == nil || pages == nil {
		return
	}
	if config.Node != m.ID || config.Ring.Address != m.Address+":5672" ||
		config.Postgres.Address() != process.URL("postgres://whirlpool:"+secret("database")+"@"+m.Settings["DATABASE"]+
			":5432/whirlpool?sslmode=require") ||
		len(config.ZooKeeper.Addresses) != 3 || string(pages.MongoDB.Password) != secret("pages") ||
		config.MongoDB.Password != "" || string(config.RabbitMQ.Frontier.Password) != secret("broker") ||
		config.Memcached.Addresses[0] != m.Settings["CACHE"] || config.Postgres.Connections != 3 {
		b.t.Errorf("the programs' settings: %+v", config)
	}
	b.ledger(m, config, secret("database"))
	if got := fmt.Sprint(b.service("rabbitmq")["ports"]); strings.Count(got, m.Address) != 2 {
		b.t.Errorf("the broker listens on %s", got)
	}
	if got := b.services(); got["postgres"] != nil || got["mongodb"] != nil || got["memcached"] != nil {
		b.t.Error("a crawler starts stores of its own")
	}
	if info, err := os.Stat(filepath.Join(b.dir, "opt/whirlpool/.env")); err != nil || info.Mode().Perm() != 0o600 {
		b.t.Errorf(".env: %v %v", info, err)
	}
	if got := b.read("images"); got != "images" {
		b.t.Errorf("docker load got %q", got)
	}
	if got := b.read("calls"); !strings.Contains(got, "docker-compose up -d --no-build --wait") {
		b.t.Errorf("calls: %s", got)
	}
	b.enabled("whirlpool-archive.timer", "whirlpool-leave.service", "whirlpool-studio.timer")
	b.studio(m, secret("studio"))
	b.leaves(a, m)
}

// ledger shows that the programs connect to the servers of the ledger, in their order, with the database's password.
func (b *boots) ledger(m *fakeaws.Machine, config *process.Config, password string) {
	var want []string
	for _, address := range strings.Split(m.Settings["LEDGER"], ",") {
		want = append(want, "postgres://whirlpool:"+password+"@"+address+":5432/ledger?sslmode=require")
	}
	for _, o := range m.Server.Objects("AWS::RDS::DBInstance") {
		if o.Logical == "Ledger1" && !strings.HasPrefix(m.Settings["LEDGER"], fmt.Sprint(o.Attrs["Endpoint.Address"], ",")) {
			b.t.Errorf("the first server of the ledger is not %s: %s", o.ID, m.Settings["LEDGER"])
		}
	}
	if got := node.PostgresConfig(config).Ledger; len(got) != 2 || !slices.Equal(got, want) {
		b.t.Errorf("the programs' ledger is on %q, want %q", got, want)
	}
	for _, name := range []string{"contentseen", "due", "frontier", "parser", "api"} {
		if other := b.settings(name); other == nil || !slices.Equal(other.Postgres.Ledger, config.Postgres.Ledger) {
			b.t.Errorf("%s has another ledger than the fetcher", name)
		}
	}
}

// studio shows what the API of a crawler is told, where its tunnel and its load balancer come to, and that its health
// is told.
func (b *boots) studio(m *fakeaws.Machine, key string) {
	config := b.settings("api")
	if config == nil {
		return
	}
	if config.API.URL != "https://crawl.example.org" || !slices.Equal(config.API.Hosts, []string{m.Address + ":8711"}) ||
		string(config.API.AdminKey) != "wpk_cluster0_"+key ||
		len(key) != 43 || config.OIDC.Issuer != "https://login.example.org" || config.OIDC.ClientID != "whirlpool" ||
		config.OIDC.ClientSecret != "" ||
		!slices.Equal(config.OIDC.Roles, []string{"crawlers=operator", "ops=admin"}) || config.Postgres.Connections != 3 ||
		config.MongoDB.Password == "" {
		b.t.Errorf("the API's settings: %+v", config)
	}
	if got := fmt.Sprint(b.service("api")["ports"]); !strings.Contains(got, m.Address) ||
		!strings.Contains(got, "127.0.0.1") {
		b.t.Errorf("the API listens on %s", got)
	}
	// The tool of the timer: there is no API in this root, and CloudWatch is told so.
	told := "#!/bin/bash\nset -ea; . /etc/whirlpool-node.env; aws() { echo \"aws $*\" >>/calls; }; export -f aws; sed " +
		"'s/^exec //' /opt/whirlpool/deploy/aws/studio | bash\n"
	if err := b.run(told, b.environment(m)); err != nil {
		b.t.Errorf("the health of the API is not told: %v", err)
	}
	if want := "--namespace Whirlpool --metric-name studio_healthy --dimensions Cluster=" + m.Settings["CLUSTER"] +
		" --value 0"; !strings.Contains(b.read("calls"), want) {
		b.t.Errorf("calls: %s; want %q", b.read("calls"), want)
	}
}

// leaves shows what a crawler does that the group wants to end: it waits for the word, drains the node, saves finished
// WARC files, and answers.
func (b *boots) leaves(a *account, m *fakeaws.Machine) {
	b.write("spool/warc/a.warc.gz", "finished", 0o644)
	b.write("spool/warc/b.warc.gz.open", "not finished", 0o644)
	script := "#!/bin/bash\nset -a; . /etc/whirlpool-node.env; EVERY=0.1; cd /; timeout 60 " +
		"/opt/whirlpool/deploy/aws/leave\n"
	if err := b.run("#!/bin/bash\nset -a; . /etc/whirlpool-node.env; EVERY=0.1; timeout 2 "+
		"/opt/whirlpool/deploy/aws/leave\n", b.environment(m)); err == nil || strings.Contains(b.read("calls"), "drain") {
		b.t.Errorf("the node left before it was asked to: %v", err)
	}
	m.Leave()
	if err := b.run(script, b.environment(m)); err != nil {
		b.t.Errorf("the node could not leave: %v", err)
	}
	if got := b.read("calls"); !strings.Contains(got,
		"whirlpool ring drain "+m.ID+" --wait --cluster\ndocker-compose stop fetcher") {
		b.t.Errorf("leaving, it called %s", got)
	}
	archive := a.Objects("AWS::S3::Bucket")[0].ID
	if got := a.send("GET", "/"+archive+"/warc/"+m.ID+"/a.warc.gz", "s3", ""); got != "finished" {
		b.t.Errorf("the archive has %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "spool/warc/*")); len(left) != 1 ||
		!strings.HasSuffix(left[0], ".open") {
		b.t.Errorf("in the spool: %v", left)
	}
	if !slices.Contains(a.Calls(), "autoscaling:CompleteLifecycleAction") {
		b.t.Error("the group was not answered")
	}
}

// settings are those of a program of a crawler, its passwords as the machine has them.
func (b *boots) settings(name string) *process.Config {
	b.t.Helper()
	var environ []string
	environment, _ := b.service(name)["environment"].(map[string]any)
	for k, v := range environment {
		value := strings.Replace(fmt.Sprint(v), "/run/secrets/", filepath.Join(b.dir, "opt/whirlpool/secrets")+"/", 1)
		environ = append(environ, k+"="+value)
	}
	config, err := process.Load("../deploy/node.yml", environ)
	if err != nil {
		b.t.Errorf("%s refuses its settings: %v", name, err)
	}
	return config
}

// service is what docker-compose made of one service.
func (b *boots) service(name string) map[string]any {
	b.t.Helper()
	services := b.services()
	if services[name] == nil {
		b.t.Fatalf("docker-compose has no service %s", name)
	}
	return services[name]
}

func (b *boots) services() map[string]map[string]any {
	b.t.Helper()
	var project struct{ Services map[string]map[string]any }
	if err := json.Unmarshal([]byte(b.read("compose.json")), &project); err != nil {
		b.t.Fatal(err)
	}
	return project.Services
}

// enabled tells whether systemd would start a unit.
func (b *boots) enabled(units ...string) {
	b.t.Helper()
	for _, unit := range units {
		if found, _ := filepath.Glob(filepath.Join(b.dir, "etc/systemd/system/*.wants", unit)); len(found) == 0 {
			b.t.Errorf("%s is not enabled", unit)
		}
	}
}
