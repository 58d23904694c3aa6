package process

import (
	"encoding/json"
	"maps"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Three nodes on one machine: each has a name, a broker and a spool of its own; stores and ZooKeeper are those of all.
func TestThreeNodesOnOneMachine(t *testing.T) {
	if err := exec.Command("docker", "compose", "version").Run(); err != nil {
		t.Skip("docker compose is not installed")
	}
	cmd := exec.Command("docker", "compose", "-f", "docker-compose.yml", "-f", "deploy/three-nodes.yml", "config",
		"--format", "json")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("docker compose config: %v", err)
	}
	var compose struct {
		Services map[string]struct {
			Hostname    string
			Environment map[string]string
			Volumes     []struct{ Source, Target string }
		}
	}
	if err := json.Unmarshal(out, &compose); err != nil {
		t.Fatal(err)
	}
	programs, brokers, spools, shared := map[string][]string{}, map[string]string{}, map[string]string{}, map[string]bool{}
	for service, s := range compose.Services {
		if s.Environment["WHIRLPOOL_NODE"] == "" {
			continue
		}
		var environ []string
		for name, value := range s.Environment {
			environ = append(environ, name+"="+secretsOnDisk(value))
		}
		c, err := Load("../../deploy/node.yml", environ)
		if err != nil {
			t.Errorf("%s: %v", service, err)
			continue
		}
		programs[c.Node] = append(programs[c.Node], service)
		api, err := url.Parse(string(c.RabbitMQ.Management.URL))
		if broker := compose.Services[api.Hostname()]; err != nil || broker.Hostname != api.Hostname() ||
			c.BrokerAddress() != api.Hostname()+":5672" {
			t.Errorf("%s: broker %s, management %s, hostname %q: %v", service, c.BrokerAddress(), api, broker.Hostname, err)
		}
		shared[strings.Join(append(c.ZooKeeper.Addresses, string(c.Postgres.URL), string(c.MongoDB.URL)), " ")] = true
		for _, v := range s.Volumes {
			if v.Target == "/var/lib/whirlpool" {
				own(t, "spool", spools, c.Node, v.Source)
			}
		}
		own(t, "broker", brokers, c.Node, c.BrokerAddress())
	}
	if names := slices.Sorted(maps.Keys(programs)); !slices.Equal(names, []string{"node-1", "node-2", "node-3"}) ||
		len(programs["node-1"]) != len(crawl.Stages()) || len(spools) != 3 || len(shared) != 1 {
		t.Errorf("nodes %v, spools %v, stores %v", programs, spools, shared)
	}
	for _, name := range []string{"zookeeper", "rabbitmq", "rabbitmq-2", "rabbitmq-3"} {
		if _, starts := compose.Services[name]; !starts {
			t.Errorf("%s does not start", name)
		}
	}
}

// own checks that a node has one of a thing, which no other node has.
func own(t *testing.T, what string, of map[string]string, node, thing string) {
	t.Helper()
	for other, theirs := range of {
		if (other == node) != (theirs == thing) {
			t.Errorf("%s %s of %s, and %s of %s", what, thing, node, theirs, other)
		}
	}
	of[node] = thing
}
