package explore

import (
	"context"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/worddiff"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxCompared is how much of two texts is compared.
const maxCompared = 128 << 10

// TextDiff implements Reader.
func (x *Explorer) TextDiff(ctx context.Context, a crawl.JobID, keyA string, b crawl.JobID,
	keyB string) (*TextDiff, error) {
	d := &TextDiff{}
	textA, err := x.side(ctx, a, keyA, &d.A)
	if err != nil {
		return nil, err
	}
	textB, err := x.side(ctx, b, keyB, &d.B)
	if err != nil {
		return nil, err
	}
	d.Cut = len(textA) > maxCompared || len(textB) > maxCompared
	d.Pieces = worddiff.Compare(plain(textA, maxCompared), plain(textB, maxCompared))
	return d, nil
}

// side finds the text of a record: in the record, its body or its original.
func (x *Explorer) side(ctx context.Context, id crawl.JobID, key string, s *Side) (string, error) {
	ix, err := x.index(ctx, id)
	if err != nil {
		return "", err
	}
	r, err := ix.find(ctx, key)
	if err != nil {
		return "", fmt.Errorf("execution %q: %w", id, err)
	}
	text, err := ix.textOf(ctx, r, s)
	s.Execution, s.URL, s.Key, s.Title, s.Words = string(id), r.URL, r.Key, r.Title, len(strings.Fields(text))
	return text, err
}

func (x *index) textOf(ctx context.Context, r *found, s *Side) (string, error) {
	if r.page.Text != "" || r.copied == copyNone {
		s.Source = "record"
		return r.page.Text, nil
	}
	body, kept, err := x.body(ctx, r)
	if err == nil && kept {
		s.Source = "body"
		u, err := weburl.ParseStored([]byte(r.URL))
		return parser.HTML(body, r.page.ContentType, u, parser.Options{}).Text, err
	}
	if r.copied == copyExact {
		if o, err := x.find(ctx, r.page.DuplicateOf); err == nil {
			s.Source = "original"
			return o.page.Text, nil
		}
	}
	s.Source, s.Note = "none", "The record of a copy has no text. With keep_bodies in its job a crawl keeps what is "+
		"needed to show it."
	return "", nil
}
