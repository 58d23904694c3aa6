package crawl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
)

// Memory is a spool of bodies, of one user each, and a store of robots.txt files, for trials and tests. It goes with
// the process.
type Memory struct {
	mu     sync.Mutex
	robots map[string]Robots
	bodies map[BodyRef][]byte
	put    int
}

var _ RobotsStore = (*Memory)(nil)

// Robots implements RobotsStore.
func (m *Memory) Robots(_ context.Context, origin string) (Robots, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.robots[origin]
	return r, ok, nil
}

// PutRobots implements RobotsStore.
func (m *Memory) PutRobots(_ context.Context, r Robots) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.robots == nil {
		m.robots = map[string]Robots{}
	}
	m.robots[r.Origin] = r
	return nil
}

// Put is that of Bodies. Whoever puts a body bounds it.
func (m *Memory) Put(_ context.Context, r io.Reader) (BodyRef, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bodies == nil {
		m.bodies = map[BodyRef][]byte{}
	}
	ref := BodyRef(fmt.Sprintf("body-%d", m.put))
	m.put++
	m.bodies[ref] = data
	return ref, nil
}

// Open is that of Bodies.
func (m *Memory) Open(_ context.Context, ref BodyRef) (io.ReadCloser, error) {
	data, ok := m.Body(ref)
	if !ok {
		return nil, ErrNoBody
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Release is that of Bodies.
func (m *Memory) Release(_ context.Context, ref BodyRef) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.bodies, ref)
	return nil
}

// Body returns a body that was not released.
func (m *Memory) Body(ref BodyRef) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.bodies[ref]
	return data, ok
}

// Len is how many bodies there are.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.bodies)
}
