package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

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

// A word that most pages have is looked up in the index, although the planner takes reading all pages for cheaper: it
// knows nothing of unpacking them. The control: left to itself it reads them all.
func TestSearchReadsTheIndex(t *testing.T) {
	s, url, ctx := open(t), sharedDatabase(t), context.Background()
	check(t, s.Texts().PutText(ctx, &crawl.Record{Job: "common", URL: manyURLs(t, 0, 1, 1)[0], Text: "common"}))
	info, err := s.Jobs().Info(ctx, "common")
	check(t, err)
	execute(t, url, fmt.Sprintf(`INSERT INTO page_text (job, host, hash, visit, at, words)
		SELECT %d, 1, md5(n::text)::uuid, 0, now(), $$'common':1 '/%[1]d'$$::tsvector ||
			to_tsvector('simple', (SELECT string_agg(md5(n::text || w), ' ') FROM generate_series(1, 100) w))
		FROM generate_series(1, 2000) n; ANALYZE page_text`, info.Number))
	c := planCase{postgres.SearchSQL, []any{info.Number, postgres.JobWord(info.Number) + " & 'common'", nil, nil, nil, nil,
		postgres.MaxRanked, "'common'", false, 10, 0}}
	for settings, want := range map[string]string{
		postgres.SearchSettings:         "page_text_words",
		"SET LOCAL enable_seqscan = on": "Seq Scan",
	} {
		tx, err := connect(t, url).Begin(ctx)
		check(t, err)
		_, err = tx.Exec(ctx, settings, pgx.QueryExecModeSimpleProtocol)
		check(t, err)
		if p := plan(t, tx.Conn(), c); !strings.Contains(p, want) {
			t.Errorf("%s: no %s in\n%s", settings, want, p)
		}
	}
}

// The list of new words stays short however many write, because they merge it as they go.
func TestNewWordsAreMerged(t *testing.T) {
	s, url, ctx := open(t), sharedDatabase(t), context.Background()
	execute(t, url, "ALTER INDEX page_text_words SET (gin_pending_list_limit = 1000000)") // so that PostgreSQL does not
	defer execute(t, url, "ALTER INDEX page_text_words SET (gin_pending_list_limit = 256)")
	var wg sync.WaitGroup
	const writers, each = 4, 5*postgres.MergeEvery + 10
	for w, urls := range slices.Collect(slices.Chunk(manyURLs(t, 0, writers*each, 1), each)) {
		wg.Go(func() {
			for i, u := range urls {
				text := make([]string, 100)
				for n := range text {
					text[n] = fmt.Sprintf("w%dx%dx%d", w, i, n)
				}
				if err := s.Texts().PutText(ctx, &crawl.Record{Job: "merged", URL: u, Text: strings.Join(text, " ")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var left int // blocks of 8 KB
	check(t, connect(t, url).QueryRow(ctx, postgres.MergeSQL).Scan(&left))
	t.Logf("%d blocks were left to merge", left)
	if left > 2*postgres.MergeEvery { // a page has about one, and others are written while one merges
		t.Errorf("%d blocks of new words wait after %d pages", left, writers*each)
	}
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
