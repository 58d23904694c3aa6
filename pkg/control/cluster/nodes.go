package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// nodes are ways to the brokers of other nodes, each opened when first needed.
type nodes struct {
	log *slog.Logger

	mu   sync.Mutex
	open map[string]*rabbit.Bus // by address
}

// at returns the broker of a node.
func (n *nodes) at(cfg *process.Config, name, addr string) (*rabbit.Bus, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if b := n.open[addr]; b != nil {
		return b, nil
	}
	rb := node.NodeConfig(cfg, name, addr)
	rb.Program, rb.Log = "whirlpool", n.log
	b, err := rabbit.Open(rb)
	if err != nil {
		return nil, fmt.Errorf("broker of node %s: %w", name, err)
	}
	if n.open == nil {
		n.open = map[string]*rabbit.Bus{}
	}
	n.open[addr] = b
	return b, nil
}

func (n *nodes) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	errs := make([]error, 0, len(n.open))
	for _, b := range n.open {
		errs = append(errs, b.Close())
	}
	n.open = nil
	return errors.Join(errs...)
}
