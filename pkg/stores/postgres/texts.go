package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Texts are the words of pages.
type Texts struct{ s *Store }

var _ crawl.PageTexts = (*Texts)(nil)

// Texts returns the words of pages.
func (s *Store) Texts() *Texts { return &Texts{s} }

// Words that begin with a slash are in no text. One of them names the job, so that the index finds the words of that
// job and not those of all.
const (
	putTextSQL = `INSERT INTO page_text (job, host, hash, visit, at, lang, words) VALUES ($1, $2, $3, $4, $5, $6, ($7::text)::tsvector)
		ON CONFLICT (job, host, hash) DO UPDATE SET visit = excluded.visit, at = excluded.at, lang = excluded.lang, words = excluded.words
		WHERE page_text.visit <= excluded.visit`
	dropTextSQL = `DELETE FROM page_text WHERE job = $1 AND host = $2 AND hash = $3 AND visit <= $4`
)

// mergeEvery is after how many pages a store merges the list of new words into the index, and mergeSQL what does it.
// PostgreSQL has the insert that finds the list full merge all of it, while others go on adding to it: merging is the
// slower, so that the list grew until one insert took a minute. Callers of mergeSQL wait for each other, so
// the list has about mergeEvery pages for each process that writes.
const (
	mergeEvery = 64
	mergeSQL   = `SELECT gin_clean_pending_list('page_text_words')`
)

// mergeTexts merges the list of new words into the index. A role that does not own the index may not: autovacuum does
// it then.
func (s *Store) mergeTexts(ctx context.Context) error {
	err := s.do(ctx, "merge new words into the index", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, mergeSQL)
		return err
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42501" { // insufficient_privilege
		return nil
	}
	return err
}

func jobWord(number int32) string { return fmt.Sprintf("'/%d'", number) }

// PutText implements crawl.PageTexts.
func (t *Texts) PutText(ctx context.Context, r *crawl.Record) error {
	k := r.URL.Key()
	words := ""
	if r.DuplicateOf.IsZero() && r.WithdrawnAt.IsZero() {
		words = textsearch.Vector(r.Title, r.URL.String(), r.Text)
	}
	err := t.s.do(ctx, fmt.Sprintf("words of %s", r.URL), func(ctx context.Context) error {
		number, err := t.s.jobs.number(ctx, r.Job)
		switch {
		case err != nil:
			return err
		case words == "":
			_, err = t.s.pool.Exec(ctx, dropTextSQL, number, hostOf(k), hashOf(k), r.Visit)
		default:
			_, err = t.s.pool.Exec(ctx, putTextSQL, number, hostOf(k), hashOf(k), r.Visit, r.FetchedAt, optional(r.Lang, maxKey),
				words+jobWord(number))
		}
		return err
	})
	if err == nil && words != "" && t.s.newTexts.Add(1)%mergeEvery == 0 {
		err = t.s.mergeTexts(ctx)
	}
	return err
}

// TextSearch says which pages are meant, and which part of the list of them.
type TextSearch struct {
	Query         *textsearch.Query
	Host          string    // as weburl.URL.HostKey has it; empty: all
	Lang          string    // with its regions; empty: all
	Since, Until  time.Time // of the fetch; zero: at any time
	Newest        bool      // the newest first, not the best
	Offset, Limit int
}

// TextHit is a page that has the words. More is better.
type TextHit struct {
	Key   weburl.Key
	Score float64
}

// Of the pages that have the words, the newest maxRanked are ranked: by how often the words occur in them and how near,
// with those of the title ten times and those of the URL twice as heavy as the text's. Each has to be read and unpacked
// for that, which takes 40 us and more.
//
// The planner knows nothing of the time that unpacking takes: where many pages have a word it reads all pages of the
// table, and unpacks them, instead of the index. searchSettings and "job + 0", which no index has, leave it the index
// of the words only.
const (
	maxRanked      = 2_000
	searchSettings = `SET LOCAL enable_seqscan = off; SET LOCAL jit = off`
	searchSQL      = `WITH found AS MATERIALIZED (
			SELECT host, hash, at, words FROM page_text WHERE words @@ ($2::text)::tsquery AND job + 0 = $1
				AND ($3::bigint IS NULL OR host = $3) AND ($4::text IS NULL OR lower(lang) = $4 OR starts_with(lower(lang), $4 || '-'))
				AND ($5::timestamptz IS NULL OR at >= $5) AND ($6::timestamptz IS NULL OR at < $6)
			ORDER BY at DESC, host, hash LIMIT $7)
		SELECT host, hash, CASE WHEN $9 THEN 0 ELSE ts_rank('{0.1, 0.1, 0.2, 1}', words, ($8::text)::tsquery, 1) END AS score FROM found
			ORDER BY score DESC, at DESC, host, hash LIMIT $10 OFFSET $11`
)

// Search returns the pages of a job that have the words, the best first.
func (t *Texts) Search(ctx context.Context, job crawl.JobID, a TextSearch) (hits []TextHit, err error) {
	number, known, err := t.s.jobs.find(ctx, job)
	if err != nil || !known {
		return nil, err
	}
	var host *int64
	if a.Host != "" {
		n := hostNumber(a.Host)
		host = &n
	}
	query := a.Query.TSQuery()
	err = t.s.report(ctx, fmt.Sprintf("search job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, searchSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, searchSQL, number, jobWord(number)+" & "+query, host, optional(a.Lang, maxKey),
			timeOrNull(a.Since), timeOrNull(a.Until), maxRanked, query, a.Newest, a.Limit, a.Offset)
		if err != nil {
			return err
		}
		hits, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (h TextHit, err error) {
			var host int64
			var hash pgtype.UUID
			err = row.Scan(&host, &hash, &h.Score)
			h.Key = keyOf(host, hash)
			return h, err
		})
		return err
	})
	return hits, err
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
