package nodes_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// faultVariable makes the test binary a node that differs from `whirlpool node` in the way it names.
const faultVariable = "WHIRLPOOL_E2E_FAULT"

const (
	faultNone     = "none"     // the control of the controls
	faultUnfenced = "unfenced" // a member that believes to be one whatever ZooKeeper says, or does not
)

func runBroken(fault string, args []string) int {
	cluster, ok := map[string]node.Cluster{
		faultNone:     {},
		faultUnfenced: {RingStore: func(s member.Store) member.Store { return believer{s} }},
	}[fault]
	if !ok {
		fmt.Fprintf(os.Stderr, "fault %q is unknown\n", fault)
		return 2
	}
	return process.Run("node", args, func(ctx context.Context, p *process.Program) error { return cluster.Run(ctx, p) })
}

// believer is a store of the ring whose sessions never end, and whose signs of life are its own.
type believer struct{ member.Store }

func (b believer) Open(ctx context.Context) (member.Session, error) {
	s, err := b.Store.Open(ctx)
	return &belief{Session: s, ended: make(chan struct{})}, err
}

type belief struct {
	member.Session
	ended chan struct{} // never closed

	mu   sync.Mutex
	last member.View
}

func (b *belief) Ping(context.Context) error { return nil }
func (b *belief) Ended() <-chan struct{}     { return b.ended }

// Read returns what was there last, where ZooKeeper does not answer soon.
func (b *belief) Read(ctx context.Context) (member.View, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	v, err := b.Session.Read(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.last = v
	} else if b.last.Table != nil {
		return b.last, nil
	}
	return v, err
}
