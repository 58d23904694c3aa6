package tryout

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

// parse has the parser read the page. Without a document the trial ends.
func (r *run) parse(ctx context.Context, page *crawl.Page) (_ *crawl.Document, err error) {
	in := object{"content_type": page.ContentType, "bytes": page.Bytes}
	s := r.begin(trial.StepParse, in)
	opener := r.opt.Opener
	if opener == nil {
		own := documents.New(documents.Default()) // it starts nothing where the page is no document
		defer func() { err = errors.Join(err, own.Close()) }()
		opener = own
	}
	h := parser.NewHandler(r.jobs(), r.memory, r.log)
	h.UseOpener(opener)
	if r.plugins != nil {
		h.UsePlugins(r.plugins)
	}
	events, err := h.Handle(ctx, page)
	if err = r.ended(err); err != nil {
		return nil, err
	}
	r.without(s, crawl.AtResponse, crawl.AtDocument, crawl.AtLinks)
	r.replaced()
	d, ok := events[0].(*crawl.Document)
	if !ok {
		return nil, errors.New("the parser made no document")
	}
	t := r.trial
	t.Parse = &trial.Parse{Title: d.Title, Lang: d.Lang, Charset: d.Charset, ContentType: d.ContentType,
		Canonical: d.Canonical, Text: d.Text, Fields: d.Fields, Links: len(d.Links), Assets: len(d.Assets),
		NoIndex: d.NoIndex, NoFollow: d.NoFollow, Cut: d.Cut, Took: trial.InSeconds(time.Since(s.started))}
	out := with(in, "title", d.Title, "lang", d.Lang, "charset", d.Charset, "canonical", d.Canonical, "text", d.Text,
		"text_bytes", len(d.Text), "links", len(d.Links), "assets", len(d.Assets), "noindex", d.NoIndex, "nofollow",
		d.NoFollow, "cut", d.Cut)
	out["content_type"] = d.ContentType
	out = r.asParsed(out)
	r.tell(crawl.AtResponse)
	s.end(trial.OK, out, "%s", t.Parse.Words())
	return d, nil
}

// sites says which site rules match the URL, and what the selectors of their fields found.
func (r *run) sites(d *crawl.Document) error {
	s := r.begin(trial.StepRules, object{"fields": object{}})
	rules := r.job.Rules
	compiled, err := parser.CompileRules(rules)
	if err != nil {
		return err
	}
	found := map[[2]int]*trial.Found{}
	match := r.trace(compiled, d, found)
	matches, missing := 0, []string{}
	for i := range rules {
		rule := trial.Site{Name: parser.RuleName(rules, i), Matches: match[i]}
		for k, f := range rules[i].Fields {
			if !match[i] {
				break
			}
			got := cmp.Or(found[[2]int{i, k}], &trial.Found{Field: f.Name})
			if rule.Found = append(rule.Found, *got); got.Matches == 0 {
				rule.Missing = append(rule.Missing, f.Name)
			}
		}
		if match[i] {
			matches++
		}
		missing = append(missing, rule.Missing...)
		r.trial.Sites = append(r.trial.Sites, rule)
	}
	defer r.tell(crawl.AtDocument, crawl.AtLinks)
	out := with(object{"fields": r.fieldsOf(d)}, "rules", r.trial.Sites)
	switch {
	case len(rules)+len(r.job.Select) == 0:
		s.end(trial.Skipped, out, "the job has no site rules")
	case len(missing) > 0:
		s.end(trial.OK, out, "%d of %d site rules are for it; nothing found for %s", matches, len(rules),
			strings.Join(missing, ", "))
	default:
		s.end(trial.OK, out, "%d of %d site rules are for it", matches, len(rules))
	}
	return nil
}

// fieldsOf are the fields of a page as its rules made them.
func (r *run) fieldsOf(d *crawl.Document) object {
	if was := r.before(crawl.AtDocument); was != nil { // nodes came after the rules
		fields, _ := was["fields"].(object)
		return fields
	}
	fields := object{}
	for _, f := range slices.Backward(d.Fields) { // the first of a name counts
		fields[f.Name] = f.Value
	}
	return fields
}

// maxFound is how many values of a selector are told.
const maxFound = 5

// trace runs each selector on the page.
func (r *run) trace(compiled *parser.Rules, d *crawl.Document, found map[[2]int]*trial.Found) (match []bool) {
	u := r.trial.URL
	if !parser.HasFields(d.ContentType) {
		return compiled.Trace(u, &html.Node{Type: html.DocumentNode}, func(parser.Traced) bool { return false })
	}
	source := parser.Decode(r.body, d.ContentType, d.Charset)
	r.trial.SetSource(source)
	tree, err := html.Parse(bytes.NewReader(source))
	if err != nil { // it is too deep: the parser has no tree of it either
		tree = &html.Node{Type: html.DocumentNode}
	}
	return compiled.Trace(u, tree, func(t parser.Traced) bool {
		k := slices.IndexFunc(r.job.Rules[t.Rule].Fields, func(f crawl.FieldRule) bool { return f.Name == t.Field })
		at := [2]int{t.Rule, k}
		f := found[at]
		if f == nil {
			f = &trial.Found{Field: t.Field, Path: parser.PathOf(t.Node)}
			found[at] = f
		}
		if f.Matches++; len(f.Values) < maxFound {
			f.Values = append(f.Values, trial.Bound(t.Value, trial.MaxShown))
		}
		return true
	})
}

// reasons are counted reasons, as in scope 3, nofollow 1.
func reasons(count map[string]int) string {
	parts := make([]string, 0, len(count))
	for reason, n := range count {
		parts = append(parts, fmt.Sprintf("%s %d", reason, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
