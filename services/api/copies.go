package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const (
	sectionCopies = "api.copies"
	beatEvery     = 5 * time.Second
	beatGone      = 20 * time.Second // without a beat: the copy was killed
	beatForget    = time.Hour
)

// copies counts the copies of the program that run: each says so every five seconds.
type copies struct {
	s     *served
	own   api.Agent
	count atomic.Int64
}

func newCopies(s *served) *copies {
	c := &copies{s: s, own: api.Agent{ID: "api@" + s.p.Config.Node + "." + rand.Text()[:6], Program: "api",
		Version: crawl.Version, Node: s.p.Config.Node,
		State:   "idle", // it never has messages in hand
		Started: time.Now().UTC().Truncate(time.Second), Address: s.p.Config.API.URL, Dir: s.p.Config.API.Dir,
		Workers: map[string]int{}}}
	c.count.Store(1)
	return c
}

// alive is how many copies run.
func (c *copies) alive() int { return int(c.count.Load()) }

// run beats until ctx is done, and takes its leave then.
func (c *copies) run(ctx context.Context) error {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		if err := c.beat(ctx); err != nil && ctx.Err() == nil {
			c.s.log.Warn("other copies of this program do not hear of it", "error", err)
		}
		select {
		case <-ctx.Done():
			within, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = c.s.store.SetValue(within, sectionCopies, c.own.ID, nil) // without it the others notice in a moment
			return nil
		case <-tick.C:
		}
	}
}

// beat says that this copy runs, and counts the others.
func (c *copies) beat(ctx context.Context) error {
	c.own.Seen = time.Now().UTC().Truncate(time.Millisecond)
	data, err := json.Marshal(c.own)
	if err != nil {
		return err
	}
	if err := c.s.store.SetValue(ctx, sectionCopies, c.own.ID, data); err != nil {
		return err
	}
	all, err := c.all(ctx)
	if err == nil {
		c.count.Store(int64(len(all)))
	}
	return err
}

// all are the copies that run. Those that were killed long ago are forgotten.
func (c *copies) all(ctx context.Context) (out []api.Agent, err error) {
	var gone []string
	err = c.s.store.EachValue(ctx, sectionCopies, func(key string, data []byte) error {
		var a api.Agent
		if err := json.Unmarshal(data, &a); err != nil {
			return err
		}
		switch since := time.Since(a.Seen); {
		case since > beatForget:
			gone = append(gone, key)
		case since < beatGone:
			out = append(out, a)
		}
		return nil
	})
	for _, key := range gone {
		if err == nil {
			err = c.s.store.SetValue(ctx, sectionCopies, key, nil)
		}
	}
	return out, err
}
