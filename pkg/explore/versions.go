package explore

import (
	"context"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/worddiff"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// NowVisit stands for the record as it is, beside the versions that it keeps.
const NowVisit = -1

// VersionDiff implements Reader.
func (x *Explorer) VersionDiff(ctx context.Context, id crawl.JobID, key string, first, second int) (*TextDiff, error) {
	_, r, err := x.recordOf(ctx, id, key)
	if err != nil {
		return nil, err
	}
	rec, err := jsonl.ParseRecord(r.line)
	if err != nil {
		return nil, fmt.Errorf("execution %q: %w", id, err)
	}
	d := &TextDiff{}
	sides, texts := [2]*Side{&d.A, &d.B}, [2]string{}
	for i, visit := range []int{first, second} {
		v, err := versionOf(rec, visit)
		if err != nil {
			return nil, err
		}
		texts[i] = v.Text
		*sides[i] = Side{Execution: string(id), URL: r.URL, Key: r.Key, Title: plain(v.Title, 300),
			Words: len(strings.Fields(v.Text)), Source: "record", Visit: v.Visit, FetchedAt: v.FetchedAt}
	}
	d.Cut = len(texts[0]) > maxCompared || len(texts[1]) > maxCompared
	d.Pieces = worddiff.Compare(plain(texts[0], maxCompared), plain(texts[1], maxCompared))
	return d, nil
}

// versionOf is what a record has of a visit.
func versionOf(r *crawl.Record, visit int) (crawl.PageVersion, error) {
	if visit == NowVisit || visit == r.Visit {
		return r.Version(), nil
	}
	for _, v := range r.Versions {
		if v.Visit == visit {
			return v, nil
		}
	}
	return crawl.PageVersion{}, fmt.Errorf("visit %d of %s: %w: revisit.history says how many earlier versions are kept",
		visit, plain(r.URL.String(), 200), ErrNotFound)
}

// versionsOf are the versions that a record keeps, the newest first.
func versionsOf(line []byte) ([]PageVersion, error) {
	if !strings.Contains(string(line), `"versions":`) {
		return nil, nil
	}
	rec, err := jsonl.ParseRecord(line)
	if err != nil {
		return nil, fmt.Errorf("versions of a record: %w", err)
	}
	var out []PageVersion
	for _, v := range rec.Versions {
		out = append(out, PageVersion{Visit: v.Visit, FetchedAt: v.FetchedAt, Title: plain(v.Title, 300),
			Words: len(strings.Fields(v.Text))})
	}
	return out, nil
}
