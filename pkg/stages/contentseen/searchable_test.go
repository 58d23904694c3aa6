package contentseen

import (
	"context"
	"errors"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

type texts struct {
	put []string
	err error
}

// PutText implements crawl.PageTexts.
func (s *texts) PutText(_ context.Context, r *crawl.Record) error {
	s.put = append(s.put, r.URL.String()+" "+r.Title)
	return s.err
}

// Only jobs that ask for it have their words kept, behind their records; where that fails, the document comes again.
func TestWordsAreKeptForJobsWithSearch(t *testing.T) {
	for _, search := range []bool{false, true} {
		s, w, job := &stores{}, &texts{}, testJob()
		job.Search = search
		h := s.handler(job)
		h.st.Texts = w
		d := document(t)
		if _, err := h.Handle(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if (len(w.put) == 1) != search || s.record == nil {
			t.Errorf("search %v: words of %q", search, w.put)
		}
		w.err = errors.New("the server is away")
		if _, err := h.Handle(t.Context(), d); (err != nil) != search {
			t.Errorf("search %v, words that cannot be kept: %v", search, err)
		}
	}
}
