package explore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/induce"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// InductionAsk asks for a site rule that takes from pages what is given for each of them.
type InductionAsk struct {
	// whose kept bodies are read
	Execution crawl.JobID `json:"execution,omitempty"`
	// of the rule; empty: induced
	Name string `json:"name,omitempty"`
	// two to five, 10 at most
	Examples []InductionExample `json:"examples"`
	// further pages of the execution, up to 50; 0: 20; less: none
	Sample int `json:"sample,omitempty"`
}

// InductionExample is a page with what is wanted from it: HTML that is given, or the kept body of a record.
type InductionExample struct {
	URL    string           `json:"url,omitempty"`
	HTML   string           `json:"html,omitempty"`
	Fields []InductionField `json:"fields"`
}

// InductionField are the values of a field on a page, in the order of the page.
type InductionField struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`         // none: the page has no such value
	List   bool     `json:"list,omitempty"` // the field is a list, though the page may have but one value
}

// maxNamedPages bounds how many records are looked through for pages like the examples.
const maxNamedPages = 500

// InduceRule implements Reader.
func (x *Explorer) InduceRule(ctx context.Context, a InductionAsk) (*induce.Result, error) {
	if len(a.Examples) > induce.MaxExamples {
		return nil, fmt.Errorf("%w: %d examples: %d at most", ErrInvalid, len(a.Examples), induce.MaxExamples)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	examples := make([]induce.Example, len(a.Examples))
	var urls []weburl.URL
	for i := range a.Examples {
		var err error
		if examples[i], err = x.example(ctx, a.Execution, &a.Examples[i], i+1); err != nil {
			return nil, err
		}
		urls = append(urls, examples[i].URL)
	}
	opt := induce.Options{Name: a.Name, Stop: ctx.Err}
	if a.Execution != "" && a.Sample >= 0 {
		var err error
		if opt.Also, err = x.alike(ctx, a, urls); err != nil {
			return nil, err
		}
	}
	out, err := induce.Induce(examples, opt) //nolint:contextcheck // opt.Stop asks the context
	if errors.Is(err, induce.ErrInvalid) {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err != nil {
		return nil, err
	}
	boundInduced(out)
	return out, nil
}

// example reads the page of an example.
func (x *Explorer) example(ctx context.Context, id crawl.JobID, e *InductionExample,
	number int) (out induce.Example, err error) {
	out.Name = fmt.Sprintf("page %d", number)
	if e.URL != "" {
		out.Name = plain(e.URL, maxURL)
		if out.URL, err = weburl.Parse(e.URL); err != nil {
			return out, fmt.Errorf("%w: example %d: url: %w", ErrInvalid, number, err)
		}
	}
	of := PageOf{HTML: e.HTML}
	if e.HTML == "" {
		of = PageOf{Execution: id, URL: e.URL}
	}
	if out.Body, err = x.pageOf(ctx, of); err != nil {
		return out, fmt.Errorf("example %d: %w", number, err)
	}
	for _, f := range e.Fields {
		out.Want = append(out.Want, induce.Wanted{Field: strings.TrimSpace(f.Name), Values: f.Values, List: f.List})
	}
	return out, nil
}

// alike are further pages of the execution whose addresses are like those of the examples.
func (x *Explorer) alike(ctx context.Context, a InductionAsk, urls []weburl.URL) (out []induce.Page, err error) {
	n := a.Sample
	if n == 0 {
		n = sampleUsual
	}
	is, host := induce.Alike(urls), ""
	if len(urls) > 0 && !urls[0].IsZero() {
		host = urls[0].HostKey()
	}
	list, err := x.Records(ctx, a.Execution, RecordFilter{Duplicates: "none", Type: "text/html", Host: host},
		Page{Limit: maxNamedPages})
	if err != nil {
		return nil, err
	}
	ix, err := x.index(ctx, a.Execution)
	if err != nil {
		return nil, err
	}
	given := map[weburl.URL]bool{}
	for _, u := range urls {
		given[u] = true
	}
	for i := range list.Items {
		u, err := weburl.Parse(list.Items[i].URL)
		if err != nil || !is(u) || given[u] || len(out) >= min(n, sampleMost) {
			continue
		}
		body, err := ix.sourceOf(ctx, list.Items[i].Key)
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrInvalid): // its body is not kept: it is of no use
		case err != nil:
			return nil, err
		default:
			out = append(out, induce.Page{Name: u.String(), URL: u, Body: body})
		}
	}
	return out, nil
}

// boundInduced bounds what an answer has of pages.
func boundInduced(r *induce.Result) {
	for i := range r.Fields {
		f := &r.Fields[i]
		f.Why = plain(f.Why, maxValueText)
		for j := range f.Values {
			for k, v := range f.Values[j].Values {
				f.Values[j].Values[k] = plain(v, maxValueText)
			}
		}
		for j := range f.Lacks {
			f.Lacks[j].Value = plain(f.Lacks[j].Value, maxValueText)
		}
	}
}
