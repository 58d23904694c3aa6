package node_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
)

// asSaid compares what a preview said of URLs with what the store notes of them: by rule, by host, and the examples. It
// shows, too, that another rule or host would have been found.
func asSaid(t *testing.T, what string, said *preview.Cell, urls map[string]bool, noted map[string]crawl.LeftOut) {
	t.Helper()
	counted := func(more string) *preview.Cell {
		var tally preview.Tally
		for u := range urls {
			l, name := noted[u], ""
			name, more = more, ""
			tally.Add(preview.Queued, preview.Drops, name+l.Task.URL.HostKey(), u, name+strings.TrimSpace(l.Reason+" "+l.Rule))
		}
		var a preview.Answer
		tally.Fill(&a, [3]float64{1, 1, 1})
		return &a.Queued.Drops
	}
	if got := counted(""); !reflect.DeepEqual(said, got) {
		t.Errorf("%s: the preview said\n%+v\nand it was\n%+v", what, *said, *got)
	}
	if got := counted("another "); len(urls) > 0 && (reflect.DeepEqual(said.Rules, got.Rules) || reflect.DeepEqual(said.Hosts, got.Hosts)) {
		t.Errorf("%s: a URL that another rule or host decides about would not be found", what)
	}
}
