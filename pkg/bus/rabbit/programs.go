package rabbit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// Programs returns the programs that are connected to the two vhosts, by host and name. Several of one name on one host
// are one entry; their connections are added up. The broker may report a new connection some seconds late.
func (b *Bus) Programs(ctx context.Context) ([]bus.Program, error) {
	type place struct{ host, name string }
	count := map[place]int{}
	for _, v := range b.vhosts {
		c, err := b.api.client(ctx, v.url)
		if err != nil {
			return nil, err
		}
		conns, err := c.ListVhostConnections(v.name)
		if err != nil {
			return nil, fmt.Errorf("rabbit: ask for the connections to vhost %s: %w", v.name, absent(v, err))
		}
		for _, conn := range conns {
			name, _ := conn.ClientProperties["connection_name"].(string)
			count[place{conn.PeerHost, programOf(name)}]++
		}
	}
	var out []bus.Program
	for p, n := range count {
		out = append(out, bus.Program{Name: p.name, Host: p.host, Connections: n})
	}
	slices.SortFunc(out, func(a, b bus.Program) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host),
			cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// programOf is the program that a connection is named after: "fetcher consumes wh_subsystems".
func programOf(connection string) string {
	for _, verb := range []string{" consumes ", " publishes ", " pushes ", " pulls "} {
		if name, _, ok := strings.Cut(connection, verb); ok {
			return name
		}
	}
	return cmp.Or(connection, "?")
}

// Take removes the dead letters for which handled returns true, and returns their number. Use it, instead of Replay, if
// the caller has repaired the work of a letter in another way.
func (b *Bus) Take(ctx context.Context, handled func(bus.Letter) (bool, error)) (n int, err error) {
	for _, v := range b.vhosts {
		err := v.exhume(ctx, -1, func(l bus.Letter, d *amqp.Delivery) error {
			ok, err := handled(l)
			if err != nil || !ok {
				return err
			}
			n++
			return d.Ack(false)
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
