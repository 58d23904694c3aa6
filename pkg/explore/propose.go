package explore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/ruletest"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// PageOf names a page: HTML that is given, or the kept body of a record.
type PageOf struct {
	HTML      string      `json:"html,omitempty"` // the page; or
	Execution crawl.JobID `json:"execution,omitempty"`
	URL       string      `json:"url,omitempty"`
}

// SelectorAsk asks for selectors of an element of a page.
type SelectorAsk struct {
	PageOf
	Index  int `json:"index"`            // of the element, as its outline has it
	Sample int `json:"sample,omitempty"` // pages of the execution that they are counted on, 1 to 50; 0: 20
}

// Outline implements Reader.
func (x *Explorer) Outline(ctx context.Context, p PageOf) (*ruletest.Outline, error) {
	page, err := x.pageOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return told(ruletest.OutlineOf(page))
}

// told makes faults of a page the caller's.
func told[T any](v T, err error) (T, error) {
	if errors.Is(err, ruletest.ErrDepth) || errors.Is(err, ruletest.ErrIndex) {
		err = fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return v, err
}

// pageOf is the source of a page in UTF-8.
func (x *Explorer) pageOf(ctx context.Context, p PageOf) ([]byte, error) {
	switch {
	case len(p.HTML) > maxTestPage:
		return nil, fmt.Errorf("%w: html is longer than 10 MiB", ErrInvalid)
	case p.HTML != "":
		return []byte(strings.ToValidUTF8(p.HTML, "\uFFFD")), nil
	case p.Execution == "" || p.URL == "":
		return nil, fmt.Errorf("%w: give html, or execution and url", ErrInvalid)
	}
	ix, err := x.index(ctx, p.Execution)
	if err != nil {
		return nil, err
	}
	return ix.sourceOf(ctx, p.URL)
}

// sourceOf is the kept body of a page in UTF-8.
func (x *index) sourceOf(ctx context.Context, key string) ([]byte, error) {
	r, err := x.find(ctx, key)
	if err != nil {
		return nil, err
	}
	rec, body, err := x.pageBody(ctx, r)
	if err != nil {
		return nil, err
	}
	if !parser.HasFields(rec.ContentType) {
		return nil, fmt.Errorf("%w: %s is %s: only HTML has elements", ErrInvalid, r.URL, rec.ContentType)
	}
	return body, nil
}

// Bounds of a sample that proposals are counted on.
const (
	sampleUsual = 20
	sampleMost  = 50
)

// ProposeSelectors implements Reader.
func (x *Explorer) ProposeSelectors(ctx context.Context, a SelectorAsk) (*ruletest.Proposed, error) {
	page, err := x.pageOf(ctx, a.PageOf)
	if err != nil {
		return nil, err
	}
	out, err := told(ruletest.Propose(page, a.Index, ctx.Err))
	if err != nil || a.Execution == "" {
		return out, err
	}
	return out, x.count(ctx, a, out)
}

// count counts what the proposals match on pages of the execution: of the host of the page, where that is known.
func (x *Explorer) count(ctx context.Context, a SelectorAsk, out *ruletest.Proposed) error {
	n := a.Sample
	if n <= 0 {
		n = sampleUsual
	}
	f := RecordFilter{Duplicates: "none", Type: "text/html"}
	if u, err := weburl.Parse(a.URL); err == nil {
		f.Host = u.HostKey()
	}
	list, err := x.Records(ctx, a.Execution, f, Page{Limit: min(n, sampleMost)})
	if err != nil {
		return err
	}
	ix, err := x.index(ctx, a.Execution)
	if err != nil {
		return err
	}
	for i := range list.Items {
		page, err := ix.sourceOf(ctx, list.Items[i].Key)
		if err == nil {
			err = out.Count(page, ctx.Err)
		}
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrInvalid), errors.Is(err, ruletest.ErrDepth):
			out.NoBody++
		case err != nil:
			return err
		}
	}
	return nil
}
