package postgres_test

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// searched finds pages by their keys; it knows the URLs of those that were put.
type searched struct {
	*postgres.Texts
	urls map[weburl.Key]string
}

// PutText implements crawl.PageTexts.
func (s searched) PutText(ctx context.Context, r *crawl.Record) error {
	s.urls[r.URL.Key()] = r.URL.String()
	return s.Texts.PutText(ctx, r)
}

func TestTexts(t *testing.T) {
	storetest.Searches(t, func(t *testing.T) storetest.Searched {
		s := searched{open(t).Texts(), map[weburl.Key]string{}}
		return storetest.Searched{PageTexts: s, Find: func(job crawl.JobID, query string) (out []string) {
			q, err := textsearch.Parse(query)
			check(t, err)
			hits, err := s.Search(context.Background(), job, postgres.TextSearch{Query: q, Limit: 100})
			check(t, err)
			for _, h := range hits {
				out = append(out, s.urls[h.Key])
			}
			return out
		}}
	})
}

// Jobs do not find the pages of others, and a job's words go with it.
func TestTextsOfJobs(t *testing.T) {
	s, ctx := open(t), context.Background()
	u := manyURLs(t, 0, 1, 1)[0]
	q, err := textsearch.Parse("word*")
	check(t, err)
	for _, job := range []crawl.JobID{"job", "other"} {
		check(t, s.Texts().PutText(ctx, &crawl.Record{Job: job, URL: u, Text: "words", Lang: "en-GB"}))
	}
	find := func(job crawl.JobID, a postgres.TextSearch, want int) {
		t.Helper()
		a.Query, a.Limit = q, 10
		if hits, err := s.Texts().Search(ctx, job, a); err != nil || len(hits) != want {
			t.Errorf("job %s: %d pages, %v, want %d", job, len(hits), err, want)
		}
	}
	find("job", postgres.TextSearch{}, 1)
	find("job", postgres.TextSearch{Host: u.HostKey(), Lang: "en"}, 1)
	find("job", postgres.TextSearch{Lang: "de"}, 0)
	find("job", postgres.TextSearch{Host: "nobody.test"}, 0)
	find("job", postgres.TextSearch{Offset: 1}, 0)
	find("nobody", postgres.TextSearch{}, 0)
	_, err = s.Jobs().BeginDelete(ctx, "job")
	check(t, err)
	_, err = s.Jobs().Erase(ctx, "job")
	check(t, err)
	find("job", postgres.TextSearch{}, 0)
	find("other", postgres.TextSearch{}, 1)
}
