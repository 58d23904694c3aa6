package explore

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A line about a render is of a page that has its outcome, and of no request. One about a resource is of a request, and
// of no URL of the crawl. Explain finds both by the index.
func TestLinesOfRendersAreNoOutcomes(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	x := w.explorer()
	look := func() (*TaskCounts, *HostStory) {
		caughtUp(t, x, "s-1")
		c, err := x.TaskCounts(t.Context(), "s-1")
		counts := must(t, c, err)
		counts.Index = nil
		h, err := x.Host(t.Context(), "s-1", "a.test")
		return counts, must(t, h, err)
	}
	counts, host := look()
	w.log("s-1", line("https://a.test/1", crawl.VerdictFailed, 0, func(l *crawl.LogLine) {
		l.Kind, l.Reason, l.Duration, l.Depth = crawl.KindRender, "render-hang", 8*time.Second, 9
	}), line("https://a.test/app.js", crawl.VerdictDone, 200, func(l *crawl.LogLine) { l.Kind = crawl.KindResource }),
		line("https://a.test/2", crawl.VerdictDone, 0,
			func(l *crawl.LogLine) { l.Kind, l.Detail, l.Bytes = crawl.KindRender, "links +3", 5000 }))
	counted, now := look()
	if !reflect.DeepEqual(counted, counts) {
		t.Errorf("counts %+v, want %+v", counted, counts)
	}
	if now.Requests != host.Requests+1 || now.Pages != host.Pages || now.Failures != host.Failures ||
		now.Bytes != host.Bytes+1000 || now.Depth != host.Depth || len(now.Line) != len(host.Line)+1 {
		t.Errorf("the host has %+v, had %+v", now, host)
	}
	for _, path := range []string{"1", "2"} {
		all := must2(t)(x.Tasks(t.Context(), "s-1", TaskFilter{Query: "https://a.test/" + path}, Page{})).Items
		if is := all[len(all)-1]; is.State != Done || is.Status != 200 || is.Kind != "page" {
			t.Errorf("/%s is %+v", path, is)
		}
	}
	if got := urls(must2(t)(x.Tasks(t.Context(), "s-1", TaskFilter{Query: "app.js"}, Page{})).Items); got != "" {
		t.Errorf("a resource is listed: %s", got)
	}
	for url, want := range map[string]int{"https://a.test/1": 2, "https://a.test/app.js": 1, "https://a.test/3": 1} {
		if offs, _, err := x.Lines(t.Context(), "s-1", u(url)); err != nil || len(offs) != want {
			t.Errorf("%s has lines at %v, want %d; %v", url, offs, want, err)
		}
	}
	logs, err := x.Logs(t.Context(), LogFilter{Execution: "s-1", Query: "render-hang"}, Page{})
	if l := must(t, logs, err).Items; len(l) != 1 || !strings.HasPrefix(l[0].Message, "render failed render-hang") {
		t.Errorf("the log has %+v", l)
	}
}
