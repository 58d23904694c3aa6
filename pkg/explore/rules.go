package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/ruletest"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Bounds of what rules are tried on.
const (
	maxTestPage = 10 << 20
	maxSource   = 1 << 20
	maxSample   = 200
)

// errNoBody says that no body is kept to try rules on.
var errNoBody = fmt.Errorf("%w: the body of the page is not kept: with keep_bodies in its job a crawl keeps them; or "+
	"give the page's HTML", ErrNotFound)

// RecordRules implements Reader.
func (x *Explorer) RecordRules(ctx context.Context, id crawl.JobID, key string) (*RuleTested, error) {
	ix, r, err := x.recordOf(ctx, id, key)
	if err != nil {
		return nil, err
	}
	var t trial
	if job := ix.source().Job; job != nil {
		t = trial{job.Rules, job.Select}
	}
	return ix.testRecord(ctx, r, t)
}

// TestRules implements Reader.
func (x *Explorer) TestRules(ctx context.Context, t RuleTest) (*RuleTested, error) {
	if err := crawl.CheckPatternSizes(&crawl.Job{Rules: t.Rules, Select: t.Select}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if t.Execution != "" && t.HTML == "" {
		ix, err := x.index(ctx, t.Execution)
		if err != nil {
			return nil, err
		}
		r, err := ix.find(ctx, t.URL)
		if err != nil {
			return nil, fmt.Errorf("execution %q: %w", t.Execution, err)
		}
		return ix.testRecord(ctx, r, trial{t.Rules, t.Select})
	}
	var u weburl.URL
	if t.URL != "" {
		var err error
		if u, err = weburl.Parse(t.URL); err != nil {
			return nil, fmt.Errorf("%w: url: %w", ErrInvalid, err)
		}
	}
	switch {
	case t.HTML == "":
		return nil, fmt.Errorf("%w: give html, or execution and url", ErrInvalid)
	case len(t.HTML) > maxTestPage:
		return nil, fmt.Errorf("%w: html is longer than 10 MiB", ErrInvalid)
	}
	doc := []byte(strings.ToValidUTF8(t.HTML, "\uFFFD"))
	return trial{t.Rules, t.Select}.on(&ruletest.Page{URL: u, Type: "text/html", Body: doc,
		Text: parser.HTML(doc, "text/html; charset=utf-8", u, parser.Options{}).Text}, "html")
}

// trial is what is tried.
type trial struct {
	rules    []crawl.SiteRule
	policies []crawl.Policy
}

// on tries it on a page.
func (t trial) on(page *ruletest.Page, from string) (*RuleTested, error) {
	doc, u := page.Body, page.URL
	res, err := ruletest.Run(t.rules, t.policies, page)
	switch {
	case errors.Is(err, ruletest.ErrDepth):
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	case err != nil:
		return nil, fmt.Errorf("%w: rules: %w", ErrInvalid, err)
	}
	for i := range res.Matches {
		res.Matches[i].Value = (&cutter{}).value("", res.Matches[i].Value, maxLogText, maxListed)
	}
	out := &RuleTested{Result: *res, From: from, URL: plain(u.String(), maxURL), SourceCut: len(doc) > maxSource}
	if out.SourceCut {
		doc = doc[:maxSource]
	}
	out.Source = level(strings.ToValidUTF8(string(doc), ""))
	return out, nil
}

func (x *index) testRecord(ctx context.Context, r *found, t trial) (*RuleTested, error) {
	rec, body, err := x.pageBody(ctx, r)
	if err != nil {
		return nil, err
	}
	return t.on(&ruletest.Page{URL: rec.URL, Type: rec.ContentType, Text: rec.Text, Body: body}, "body")
}

// pageBody is a record with the kept body of its page: its first maxTestPage octets, in UTF-8.
func (x *index) pageBody(ctx context.Context, r *found) (rec *crawl.Record, text []byte, err error) {
	body, kept, err := x.body(ctx, r)
	if err != nil {
		return nil, nil, fmt.Errorf("body of %s: %w", r.URL, err)
	}
	if !kept {
		return nil, nil, errNoBody
	}
	if rec, err = jsonl.ParseRecord(r.line); err != nil {
		return nil, nil, fmt.Errorf("read a record: %w", err)
	}
	return rec, parser.Decode(body[:min(len(body), maxTestPage)], rec.ContentType, rec.Charset), nil
}

// CheckRules implements Reader.
func (x *Explorer) CheckRules(ctx context.Context, c RuleCheck) (*RuleChecked, error) {
	job := &crawl.Job{Rules: c.Rules, Select: c.Select}
	if err := crawl.CheckPatternSizes(job); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if _, err := parser.Compile(job); err != nil {
		return nil, fmt.Errorf("%w: rules: %w", ErrInvalid, err)
	}
	n := c.Sample
	if n <= 0 {
		n = 50
	}
	n = min(n, maxSample)
	list, err := x.Records(ctx, c.Execution, RecordFilter{Query: c.Query, Duplicates: "none"}, Page{Limit: n})
	if err != nil {
		return nil, err
	}
	ix, err := x.index(ctx, c.Execution)
	if err != nil {
		return nil, err
	}
	out := newCheck(c.Rules, c.Select)
	for i := range list.Items {
		r, err := ix.find(ctx, list.Items[i].Key)
		if err == nil {
			err = out.page(ctx, ix, r, trial{c.Rules, c.Select})
		}
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrInvalid):
			out.NoBody++
		case err != nil:
			return nil, err
		}
	}
	return out, nil
}

func newCheck(rules []crawl.SiteRule, policies []crawl.Policy) *RuleChecked {
	out := &RuleChecked{Fields: []FieldCount{}, Misses: []RuleMissing{}}
	for i := range rules {
		for _, f := range rules[i].Fields {
			out.Fields = append(out.Fields, FieldCount{Rule: parser.RuleName(rules, i), Field: f.Name, Samples: []string{}})
		}
	}
	for i := range policies {
		out.Fields = append(out.Fields, FieldCount{Rule: policies[i].Name, Field: policies[i].Name, Samples: []string{}})
	}
	return out
}

// maxMisses is how many pages are named on which fields are missing.
const maxMisses = 50

// page counts what the rules find in a page.
func (c *RuleChecked) page(ctx context.Context, ix *index, r *found, what trial) error {
	t, err := ix.testRecord(ctx, r, what)
	if err != nil {
		return err
	}
	c.Pages++
	first := map[string]string{}
	for _, m := range t.Matches {
		if _, known := first[m.Rule+"/"+m.Field]; !known {
			first[m.Rule+"/"+m.Field] = plain(fmt.Sprint(m.Value), maxValueText)
		}
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		if slices.Contains(t.Others, f.Rule) {
			continue
		}
		f.For++
		if v, ok := first[f.Rule+"/"+f.Field]; ok {
			f.Matches++
			if len(f.Samples) < 3 && !slices.Contains(f.Samples, v) {
				f.Samples = append(f.Samples, v)
			}
		}
	}
	if len(t.Missing) > 0 && len(c.Misses) < maxMisses {
		c.Misses = append(c.Misses, RuleMissing{URL: r.URL, Fields: t.Missing})
	}
	return nil
}
