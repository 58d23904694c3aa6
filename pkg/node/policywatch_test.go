package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// policing is a broker that answers what the test says.
type policing struct {
	policies []bus.QueuePolicy
	err      error
}

func (p *policing) Policies(context.Context) ([]bus.QueuePolicy, error) { return p.policies, p.err }

func TestAPolicyIsSaidOnce(t *testing.T) {
	var log bytes.Buffer
	broker := &policing{}
	w := &policyWatch{broker: broker, log: slog.New(slog.NewTextHandler(&log, nil))}
	short := bus.QueuePolicy{Vhost: "v", Name: "policy short", Limits: "max-length 5"}
	for i, step := range []struct {
		policies []bus.QueuePolicy
		err      error
		lines    int // so far
	}{
		{nil, nil, 0},
		{[]bus.QueuePolicy{short}, nil, 1},
		{[]bus.QueuePolicy{short}, nil, 1},
		{nil, errors.New("away"), 1}, // nobody knows
		{[]bus.QueuePolicy{short}, nil, 1},
		{nil, nil, 1},
		{[]bus.QueuePolicy{short}, nil, 2},
	} {
		broker.policies, broker.err = step.policies, step.err
		w.look(t.Context())
		if n := strings.Count(log.String(), `limits="max-length 5"`); n != step.lines {
			t.Errorf("step %d: it was said %d times, want %d\n%s", i, n, step.lines, log.String())
		}
	}
}
