package tryout

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// memory is what the stages store during a trial: robots.txt files and one body. It goes with the trial.
type memory struct {
	mu     sync.Mutex
	robots map[string]crawl.Robots
	bodies map[crawl.BodyRef][]byte
}

func newMemory() *memory {
	return &memory{robots: map[string]crawl.Robots{}, bodies: map[crawl.BodyRef][]byte{}}
}

// Robots implements crawl.RobotsStore.
func (m *memory) Robots(_ context.Context, origin string) (crawl.Robots, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.robots[origin]
	return r, ok, nil
}

// PutRobots implements crawl.RobotsStore.
func (m *memory) PutRobots(_ context.Context, r crawl.Robots) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.robots[r.Origin] = r
	return nil
}

// Put implements crawl.Bodies. What it reads is bounded by the job's limits.
func (m *memory) Put(_ context.Context, r io.Reader) (crawl.BodyRef, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	ref := crawl.BodyRef(fmt.Sprintf("body-%d", len(m.bodies)))
	m.bodies[ref] = data
	return ref, nil
}

// Open implements crawl.Bodies.
func (m *memory) Open(_ context.Context, ref crawl.BodyRef) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.bodies[ref]
	if !ok {
		return nil, crawl.ErrNoBody
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Release implements crawl.Bodies. The body stays: who tries a URL may want to see it.
func (m *memory) Release(context.Context, crawl.BodyRef) error { return nil }

func (m *memory) body(ref crawl.BodyRef) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bodies[ref]
}

// known answers the URL filter from the robots.txt files that the trial has asked for.
type known struct{ rules *robotscache.Cache }

// Allowed implements urlfilter.Robots.
func (k known) Allowed(ctx context.Context, agent string, u weburl.URL) (allowed, found bool, err error) {
	rules, rec, found, err := k.rules.Rules(ctx, u.Origin(), agent)
	if err != nil || !found || rec.State == crawl.RobotsDisallowAll {
		return false, false, err
	}
	return rules.Allowed(u.RequestURI()), true, nil
}
