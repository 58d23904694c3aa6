package renderer_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/renderer"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// kept is an archive and a place for pictures.
type kept struct {
	exchanges []*crawl.Exchange
	pictures  int
}

func (k *kept) Write(_ context.Context, x *crawl.Exchange) error {
	k.exchanges = append(k.exchanges, x)
	return nil
}

func (k *kept) Keep(context.Context, crawl.JobID, weburl.URL, []byte) (string, error) {
	k.pictures++
	return "screenshots/x.webp", nil
}

// What was rendered goes to the archive as made of the answer that is there, and its picture is named in the record. A
// page whose answer is in no archive has nothing to be made of; a picture that is too large is not kept.
func TestWhatIsKeptOfARender(t *testing.T) {
	for name, c := range map[string]struct {
		capture          crawl.Capture
		picture          int
		archived, picked int
		truncated        string
	}{
		"both":                 {crawl.Capture("0123456789abcdef"), 10, 1, 1, ""},
		"no answer is there":   {nil, 10, 0, 1, ""},
		"too large a picture":  {crawl.Capture("0123456789abcdef"), 5 << 20, 1, 0, ""},
		"no picture was taken": {crawl.Capture("0123456789abcdef"), 0, 1, 0, ""},
		"cut at a limit":       {crawl.Capture("0123456789abcdef"), 0, 1, 0, "length"},
	} {
		t.Run(name, func(t *testing.T) {
			s, k := &stores{resources: map[string]crawl.Resource{}}, &kept{}
			job := crawl.DefaultJob()
			job.ID, job.Render.Mode, job.Render.Screenshot = "j", crawl.RenderAlways, true
			b := &fake{result: render.Result{Verdict: render.Done, HTML: []byte("<p>made"), Screenshot: make([]byte, c.picture)}}
			if c.truncated != "" {
				b.result.Verdict, b.result.Cut = render.Limit, true
			}
			h := renderer.New(renderer.Deps{Jobs: crawl.StaticJobs{"j": &job}, Bodies: s, Resources: s, Renders: stats{s: s},
				Attempts: s, Browser: b, Archive: k, Pictures: k, Log: slog.New(slog.DiscardHandler)})
			e := event(t, "<p>fetched")
			e.Page.Capture = c.capture
			out, err := h.Handle(t.Context(), e)
			if err != nil || len(out) != 1 {
				t.Fatalf("%v, %v", out, err)
			}
			if len(k.exchanges) != c.archived || k.pictures != c.picked {
				t.Fatalf("%d archived, %d pictures; want %d and %d", len(k.exchanges), k.pictures, c.archived, c.picked)
			}
			if c.archived > 0 && (string(k.exchanges[0].Refers) != string(c.capture) ||
				string(k.exchanges[0].Body) != "<p>made" || k.exchanges[0].Truncated != c.truncated) {
				t.Errorf("archived: %+v", k.exchanges[0])
			}
			if named := out[0].(*crawl.Page).Rendered.Screenshot != ""; named != (c.picked > 0) {
				t.Errorf("the record names a picture: %v", named)
			}
		})
	}
}
