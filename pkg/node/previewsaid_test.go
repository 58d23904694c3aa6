package node_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// asSaid compares what a preview said of URLs with what the store notes of them: by rule, by host, and the examples. It
// shows, too, that another rule or host would have been found.
func asSaid(t *testing.T, what string, said *preview.Cell, urls map[string]bool, noted map[string]crawl.LeftOut) {
	t.Helper()
	counted := func(more string) *preview.Cell {
		var tally preview.Tally
		for u := range urls {
			l, name := noted[u], more
			more = ""
			tally.Add(preview.Queued, preview.Drops, name+l.Task.URL.HostKey(), u, name+strings.TrimSpace(l.Reason+" "+l.Rule))
		}
		var a preview.Answer
		tally.Fill(&a, [3]float64{1, 1, 1})
		return &a.Queued.Drops
	}
	if got := counted(""); !reflect.DeepEqual(said, got) {
		t.Errorf("%s: the preview said\n%+v\nand it was\n%+v", what, *said, *got)
	}
	if got := counted("another "); len(urls) > 0 &&
		(reflect.DeepEqual(said.Rules, got.Rules) || reflect.DeepEqual(said.Hosts, got.Hosts)) {
		t.Errorf("%s: a URL that another rule or host decides about would not be found", what)
	}
}

// queuedOf are the URLs that wait.
func queuedOf(t *testing.T, e *node.Engine, id crawl.JobID) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	must(t, e.Store().EachQueued(t.Context(), id, nil, func(task *crawl.Task) error {
		out[task.URL.String()] = true
		return nil
	}))
	return out
}

// notThere are those of some URLs that are neither queued nor concluded otherwise than by being left out.
func notThere(t *testing.T, e *node.Engine, id crawl.JobID, urls map[string]bool) (gone []string) {
	t.Helper()
	queued, left := queuedOf(t, e, id), leftOutOf(t, e, id, func(*crawl.LeftOut) {})
	log, err := e.Store().JobLog(t.Context(), id)
	must(t, err)
	lines, _, err := log.LinesFrom(t.Context(), id, 0, 1<<20)
	must(t, err)
	fetched := map[string]bool{}
	for i := range lines {
		fetched[lines[i].URL.String()] = fetched[lines[i].URL.String()] || lines[i].Verdict != crawl.VerdictExcluded
	}
	for u := range urls {
		if _, out := left[u]; out || !queued[u] && !fetched[u] {
			gone = append(gone, u)
		}
	}
	return gone
}
