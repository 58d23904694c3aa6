package chain_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
)

// troubled is a source that fails as long as err is not nil.
type troubled struct {
	source
	err error
}

func (t *troubled) Plugin(ctx context.Context, use, digest string) (plugin.Plugin, error) {
	if t.err != nil {
		return nil, t.err
	}
	return t.source.Plugin(ctx, use, digest)
}

// A plug-in that is not there pauses the job. One that nobody can say anything of just now does not: the message comes
// again.
func TestARepositoryThatIsAwayPausesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		paused int
	}{
		"away": {fmt.Errorf("%w: connection refused", plugin.ErrUnavailable), 0},
		"none": {errors.New("use: there is no plug-in x/y@1.0.0"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			from, paused := &troubled{source{}, c.err}, 0
			from.add("x/y@1.0.0", func(context.Context, *plugin.Call) (*plugin.Answer, error) {
				return &plugin.Answer{Action: plugin.Pass}, nil
			})
			r := chain.New(chain.Config{Source: from, Log: slog.New(slog.DiscardHandler),
				Stop: func(context.Context, crawl.JobID, string) error { paused++; return nil }})
			job := &crawl.Job{ID: "j", Pipeline: crawl.Pipeline{Nodes: []crawl.PluginNode{{ID: "n", At: crawl.AtDocument,
				Use: "x/y@1.0.0"}}}}
			run := func() error {
				_, err := r.Run(t.Context(), job, &plugin.Call{Message: &plugin.Document{}})
				return err
			}
			if err := run(); !errors.Is(err, c.err) || paused != c.paused {
				t.Errorf("%v, paused %d times; want %d", err, paused, c.paused)
			}
			from.err = nil
			if err := run(); err != nil {
				t.Errorf("after it came back: %v", err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
