package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// cluster searches the words that PostgreSQL has, and cuts what is shown from MongoDB's records.
func (f *searchFlags) cluster(cmd *cobra.Command, args []string, c *cluster.Cluster, id crawl.JobID) error {
	j, err := c.Job(cmd.Context(), id)
	if err != nil {
		return err
	}
	r, _ := f.filter(args)
	q, err := textsearch.Parse(r.Query)
	if err == nil {
		r.Lang, err = q.Language(r.Lang)
	}
	if err != nil {
		return exitStatus{exitUsage, err}
	}
	offset := 0
	if f.cursor != "" {
		if offset, err = strconv.Atoi(f.cursor); err != nil || offset < 0 {
			return usage("--cursor %q: give the one that a search of this cluster printed", f.cursor)
		}
	}
	hits, err := c.Postgres.Texts().Search(cmd.Context(), j.Info.ID,
		postgres.TextSearch{Query: q, Host: r.Host, Lang: strings.ToLower(r.Lang), Since: r.Since, Until: r.Until,
			Newest: f.newest, Offset: offset, Limit: f.limit + 1})
	if err != nil {
		return err
	}
	out := &explore.Records{}
	if len(hits) > f.limit {
		hits, out.Next = hits[:f.limit], strconv.Itoa(offset+f.limit)
	}
	if out.Items, err = foundRecords(cmd.Context(), c.Mongo.Job(j.Info.ID), q, hits); err != nil {
		return err
	}
	if job := j.Info.Job; len(out.Items) == 0 && job != nil && !job.Search {
		cmd.PrintErrf("job %s has no \"search: true\": `whirlpool index --cluster --job %s` adds the pages that are stored\n",
			j.Info.ID, j.Info.ID)
	}
	return f.print(cmd, out)
}

// foundRecords are the records of hits, as a list has them, without those that were deleted this moment.
func foundRecords(ctx context.Context, pages *mongo.Job, q *textsearch.Query, hits []postgres.TextHit) (
	[]explore.Record, error) {
	out := make([]explore.Record, 0, len(hits))
	for _, h := range hits {
		rec, found, err := pages.Record(ctx, h.Key)
		if err != nil {
			return nil, err
		}
		if found {
			out = append(out, foundRecord(rec, q, h.Score))
		}
	}
	return out, nil
}

// foundRecord is a record as a list has it.
func foundRecord(r *crawl.Record, q *textsearch.Query, score float64) explore.Record {
	return explore.Record{URL: plaintext.Of(r.URL.String(), 8<<10), Key: r.URL.Key().String(),
		Title: plaintext.Of(r.Title, 300), Lang: r.Lang, Type: r.ContentType, Status: r.Status, Depth: r.Depth,
		Bytes: r.Bytes, Words: len(strings.Fields(r.Text)), FetchedAt: r.FetchedAt,
		Snippet: q.Snippet(plaintext.Of(r.Text, textsearch.MaxText)), Score: score, GoneAt: r.GoneAt,
		MovedTo: plaintext.Of(r.MovedTo.String(), 8<<10)}
}

// indexCluster gives PostgreSQL the words of the records that a job has, as if it had had "search: true" from its
// start.
func indexCluster(cmd *cobra.Command, c *cluster.Cluster, id crawl.JobID) error {
	j, err := c.Job(cmd.Context(), id)
	if err != nil {
		return err
	}
	n, texts := 0, c.Postgres.Texts()
	err = c.Mongo.Job(j.Info.ID).Each(cmd.Context(), func(r *crawl.Record) error {
		n++
		r.Job = j.Info.ID
		return texts.PutText(cmd.Context(), r)
	})
	if err != nil {
		return fmt.Errorf("index job %s: %w", j.Info.ID, err)
	}
	cmd.Printf("%s: the words of %d pages\n", j.Info.ID, n)
	return nil
}
