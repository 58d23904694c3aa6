package contentseen

import (
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A copy that is as it was stays as long as its original has the content; then it gets a record of its own, or names
// the page that has it now.
func TestCopiesOutliveTheirOriginals(t *testing.T) {
	job := testJob()
	job.Mode = crawl.ModeContinuous
	a, b := mustURL(t, "http://b.example/a"), mustURL(t, "http://b.example/b")
	written := []string{"claim", "claim", "replace"}
	for name, c := range map[string]struct {
		copied  bool
		verdict crawl.Seen
		want    []string
	}{
		"an original":                 {false, crawl.Seen{}, nil},
		"its original has it":         {true, crawl.Seen{Sameness: crawl.ExactCopy, Of: a}, []string{"claim"}},
		"another page has it":         {true, crawl.Seen{Sameness: crawl.ExactCopy, Of: b}, written},
		"no other page has it by now": {true, crawl.Seen{}, written},
	} {
		d := document(t)
		d.Page.Task.Visit, d.Page.Task.Copy, d.Page.Task.Sum = 3, c.copied, ChangeSum(d)
		s := &stores{verdict: c.verdict, former: &crawl.Record{DuplicateOf: a}}
		events, err := s.handler(job).Handle(t.Context(), d)
		if err != nil || !slices.Equal(s.did, c.want) {
			t.Errorf("%s: it did %v, %v; want %v", name, s.did, err, c.want)
		}
		if o := events[len(events)-1].(*crawl.Outcome).Observed; o.Copy != (c.verdict.Sameness != crawl.Original) {
			t.Errorf("%s: it tells the frontier %+v", name, o)
		}
	}
}

// What a page has that is gone, or that may not be kept, may be another's, and the time is that of the first visit.
func TestContentIsGivenUp(t *testing.T) {
	job, first := testJob(), time.Unix(5, 0)
	job.Mode, job.Search = crawl.ModeContinuous, true
	gone := &crawl.Document{Page: document(t).Page, Mark: &crawl.RecordMark{GoneAt: time.Unix(9, 0)}}
	forbidden := &crawl.Document{Page: document(t).Page, Mark: &crawl.RecordMark{WithdrawnAt: time.Unix(9, 0)}}
	noindex := document(t)
	noindex.NoIndex, noindex.Page.Task.Visit = true, 4
	for name, d := range map[string]*crawl.Document{"gone": gone, "forbidden": forbidden, "noindex": noindex} {
		s := &stores{former: &crawl.Record{Aged: crawl.Aged{GoneAt: first, WithdrawnAt: first}}}
		h, w := s.handler(job), &texts{}
		h.st.Texts = w
		if _, err := h.Handle(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if found := len(w.put) == 0; found != (name == "gone") {
			t.Errorf("%s: it is found by its words: %v", name, found)
		}
		if s.claimed.Digest == (crawl.Digest{}) || s.claimed.Digest == document(t).Page.Digest || s.claimed.Sketch != nil {
			t.Errorf("%s: it claims %+v", name, s.claimed)
		}
		if !s.former.GoneAt.Equal(first) || !s.former.WithdrawnAt.Equal(first) {
			t.Errorf("%s: the times of the record are %v", name, s.former.Aged)
		}
	}
}
