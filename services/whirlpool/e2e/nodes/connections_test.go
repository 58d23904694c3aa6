package nodes_test

import (
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// wantConnections counts the connections at each node's broker that other nodes publish over: one of each at least, and
// most of each at most.
func (c *cluster) wantConnections(most int) {
	c.t.Helper()
	for _, m := range c.alive() {
		own, from := 0, map[string]int{}
		if !within(30*time.Second, func() bool { // the management API is seconds late
			own, from = c.connections(m)
			return len(from) == len(c.alive())-1
		}) {
			c.t.Errorf("%s has connections of the nodes %v, want those of all others", m.name, from)
		}
		c.t.Logf("connections at the broker of %s: %d of its own programs, of other nodes %v", m.name, own, from)
		for name, n := range from {
			if n > most {
				c.t.Errorf("%s has %d connections to the broker of %s, want %d at most", name, n, m.name, most)
			}
		}
	}
}

// connections counts those at a node's broker: of its own programs, and of other nodes.
func (c *cluster) connections(m *machine) (own int, from map[string]int) {
	c.t.Helper()
	all, err := c.management(m).ListConnections()
	check(c.t, err)
	from = map[string]int{}
	for _, conn := range all {
		if !strings.Contains(conn.Vhost, c.Database) { // another test's
			continue
		}
		name, _ := conn.ClientProperties["connection_name"].(string)
		if node, peer := strings.CutPrefix(name, bus.PeerProgram); peer {
			node, _, _ = strings.Cut(node, " ")
			from[node]++
		} else {
			own++
		}
	}
	return own, from
}
