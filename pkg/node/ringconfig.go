package node

import (
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/zookeeper"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// PeerConfig is RabbitConfig for a publisher to the broker of another node of the ring, whose address is addr,
// host:port. Vhosts, users, passwords and the scheme, amqp or amqps, are the same on all nodes.
func PeerConfig(cfg *process.Config, addr string) rabbit.Config {
	there := *cfg
	if u, err := url.Parse(string(cfg.RabbitMQ.URL)); err == nil {
		u.Host = addr
		there.RabbitMQ.URL = process.URL(u.String())
	}
	out := RabbitConfig(&there)
	out.Management = ""
	out.Program = bus.PeerProgram + cfg.Node
	return out
}

// NodeConfig is RabbitConfig for a command that asks the broker of another node of the ring. Its management API is on the same host at the port of
// this node's, unless ring.management says otherwise; user and password are the same.
//
//nolint:revive // it is a node of the ring
func NodeConfig(cfg *process.Config, name, addr string) rabbit.Config {
	there := *cfg
	m := &there.RabbitMQ.Management
	out := PeerConfig(cfg, addr)
	if host, _, err := net.SplitHostPort(addr); err == nil {
		if u, err := url.Parse(string(m.URL)); err == nil {
			if port := u.Port(); port != "" {
				host = net.JoinHostPort(host, port)
			}
			u.Host = host
			m.URL = process.URL(u.String())
		}
	}
	for _, entry := range cfg.Ring.Management {
		if node, raw, ok := strings.Cut(entry, "="); ok && node == name {
			m.URL = process.URL(raw)
		}
	}
	out.Management = m.Address().Reveal()
	return out
}

// ZooKeeperConfig translates the settings of a node's programs for the adapter.
func ZooKeeperConfig(cfg *process.Config) zookeeper.Config {
	out, z := zookeeper.Default(), cfg.ZooKeeper
	out.Servers, out.Root, out.Ring, out.Timeout = z.Addresses, z.Root, cfg.Ring.Name, time.Duration(z.SessionTimeout)
	out.User, out.Password = z.User, z.Password.Reveal()
	return out
}
