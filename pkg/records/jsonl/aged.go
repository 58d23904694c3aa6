package jsonl

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// appendAged appends what later visits made of a record.
func appendAged(dst []byte, a *crawl.Aged) []byte {
	if !a.GoneAt.IsZero() {
		dst = appendTime(append(dst, `,"gone_at":`...), a.GoneAt)
	}
	if !a.WithdrawnAt.IsZero() {
		dst = appendTime(append(dst, `,"withdrawn_at":`...), a.WithdrawnAt)
	}
	if !a.MovedTo.IsZero() {
		dst = appendURL(append(dst, `,"moved_to":`...), a.MovedTo)
	}
	if len(a.Versions) > 0 {
		dst = AppendVersions(append(dst, `,"versions":`...), a.Versions)
	}
	return dst
}

// AppendVersions appends earlier versions of a page as a JSON list.
func AppendVersions(dst []byte, versions []crawl.PageVersion) []byte {
	dst = append(dst, '[')
	for i := range versions {
		v := &versions[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendInt(append(dst, `{"visit":`...), int64(v.Visit))
		dst = appendTime(append(dst, `,"fetched_at":`...), v.FetchedAt)
		dst = appendDigest(append(dst, `,"digest":`...), v.Digest)
		dst = appendString(append(dst, `,"title":`...), v.Title)
		dst = append(appendString(append(dst, `,"text":`...), v.Text), '}')
	}
	return append(dst, ']')
}

// agedJSON is the form of appendAged.
type agedJSON struct {
	GoneAt      time.Time     `json:"gone_at"`
	WithdrawnAt time.Time     `json:"withdrawn_at"`
	MovedTo     href          `json:"moved_to"`
	Versions    []versionJSON `json:"versions"`
}

type versionJSON struct {
	Visit     int       `json:"visit"`
	FetchedAt time.Time `json:"fetched_at"`
	Digest    digest    `json:"digest"`
	Title     string    `json:"title"`
	Text      string    `json:"text"`
}

func (j *agedJSON) aged() crawl.Aged {
	a := crawl.Aged{GoneAt: j.GoneAt.UTC(), WithdrawnAt: j.WithdrawnAt.UTC(), MovedTo: weburl.URL(j.MovedTo)}
	for _, v := range j.Versions {
		a.Versions = append(a.Versions,
			crawl.PageVersion{Visit: v.Visit, FetchedAt: v.FetchedAt.UTC(), Digest: crawl.Digest(v.Digest), Title: v.Title,
				Text: v.Text})
	}
	return a
}

// ParseVersions reads what AppendVersions appended.
func ParseVersions(text []byte) ([]crawl.PageVersion, error) {
	var j agedJSON
	if err := json.Unmarshal(text, &j.Versions); err != nil {
		return nil, fmt.Errorf("parse earlier versions of a record: %w", err)
	}
	return j.aged().Versions, nil
}
