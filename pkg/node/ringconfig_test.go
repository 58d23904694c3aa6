package node

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

func TestWhereAnotherNodesBrokerIs(t *testing.T) {
	for name, c := range map[string]struct {
		own, management string
		entries         []string
		addr            string
		amqp, api       string
	}{
		"the same ports": {"amqp://10.0.0.1:5672", "http://10.0.0.1:15672", nil, "10.0.0.2:5672",
			"amqp://u:p@10.0.0.2:5672/v", "http://m:q@10.0.0.2:15672"},
		"by TLS": {"amqps://a.test:5671", "https://a.test", nil, "b.test:5671", "amqps://u:p@b.test:5671/v",
			"https://m:q@b.test"},
		"another port": {"amqp://127.0.0.1:5672", "http://127.0.0.1:15672",
			[]string{"n3=http://x:1", "n2=http://127.0.0.1:25672"}, "127.0.0.1:25671", "amqp://u:p@127.0.0.1:25671/v",
			"http://m:q@127.0.0.1:25672"},
		"an address of IPv6": {"amqp://[::1]:5672", "http://[::1]:15672", nil, "[fd00::2]:5672",
			"amqp://u:p@[fd00::2]:5672/v", "http://m:q@[fd00::2]:15672"},
		"the usual port, left": {"amqp://a", "http://a:15672", nil, "b:5672", "amqp://u:p@b:5672/v", "http://m:q@b:15672"},
	} {
		cfg := process.Default()
		cfg.Node, cfg.RabbitMQ.URL, cfg.Ring.Management = "n1", process.URL(c.own), c.entries
		cfg.RabbitMQ.Management = process.Management{URL: process.URL(c.management), User: "m", Password: "q"}
		cfg.RabbitMQ.Subsystems = process.Login{Vhost: "v", User: "u", Password: "p"}
		peer, asked := PeerConfig(&cfg, c.addr), NodeConfig(&cfg, "n2", c.addr)
		if peer.Subsystems != c.amqp || peer.Management != "" || peer.Program != "peer n1" {
			t.Errorf("%s: a publisher's is %s, %q, %q; want %s", name, peer.Subsystems, peer.Management, peer.Program, c.amqp)
		}
		if asked.Subsystems != c.amqp || asked.Management != c.api {
			t.Errorf("%s: it is asked at %s and %s, want %s and %s", name, asked.Subsystems, asked.Management, c.amqp, c.api)
		}
		if own := RabbitConfig(&cfg); own.Subsystems == c.amqp || cfg.RabbitMQ.URL != process.URL(c.own) {
			t.Errorf("%s: the own configuration became another", name)
		}
	}
}
