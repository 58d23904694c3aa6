// Package plugtest runs the tests of a plug-in's descriptor: each a message, or a page, and the answer that is wanted.
package plugtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"path"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/manifest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// timeout bounds a call: a test may run a plug-in for the first time, with all that this makes ready.
const timeout = 10 * time.Second

// Result is what came of a test.
type Result struct {
	Name     string   // its input
	Faults   []string // what is not as wanted; none: it passed
	Answer   []byte   // JSON
	Log      []string
	Took     time.Duration
	Unwanted []string // keys of the answer that nobody reads
}

// OK reports whether it passed.
func (r *Result) OK() bool { return len(r.Faults) == 0 }

// Page makes the text and the title of a page in HTML; nil: pages have neither.
type Page func(body []byte, contentType string) (title, text string, err error)

// Run runs the tests of a plug-in whose directory is dir.
func Run(ctx context.Context, p plugin.Plugin, dir fs.FS, tests []plugin.Test, page Page) []Result {
	out := make([]Result, 0, len(tests))
	for i := range tests {
		r := Result{Name: tests[i].Input}
		if err := r.run(ctx, p, dir, &tests[i], page); err != nil {
			r.Faults = append(r.Faults, err.Error())
		}
		out = append(out, r)
	}
	return out
}

func (r *Result) run(ctx context.Context, p plugin.Plugin, dir fs.FS, t *plugin.Test, page Page) error {
	d := p.Descriptor()
	at := t.Point
	if at == "" {
		at = d.Serves[0].Point
	}
	call, err := callOf(dir, at, t.Input, page)
	if err != nil {
		return err
	}
	want, err := fs.ReadFile(dir, t.Want)
	if err != nil {
		return fmt.Errorf("the answer that is wanted: %w", err)
	}
	answer, err := r.ask(ctx, p, at, t.With, call)
	if err != nil {
		return err
	}
	r.Log, answer.Log = answer.Log, nil
	if r.Answer, err = json.MarshalIndent(answer, "", "  "); err != nil {
		return err
	}
	for _, key := range r.Unwanted {
		r.Faults = append(r.Faults, fmt.Sprintf("%s: there is no such key in an answer at %s", key, at))
	}
	if serves, known := d.ServesAt(at); known {
		if fault := plugin.AddsFault(serves.Adds, fieldsOf(answer)); fault != "" {
			r.Faults = append(r.Faults, fault)
		}
	}
	differences, err := Compare(want, r.Answer)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Want, err)
	}
	r.Faults = append(r.Faults, differences...)
	return nil
}

// fieldsOf are the fields that an answer sets.
func fieldsOf(a *plugin.Answer) map[string]any {
	switch p := a.Patch.(type) {
	case *plugin.DocumentPatch:
		return p.Fields
	case *plugin.RecordPatch:
		return p.Fields
	}
	return nil
}

func (r *Result) ask(ctx context.Context, p plugin.Plugin, at crawl.Point, with map[string]any,
	call *plugin.Call) (a *plugin.Answer, err error) {
	schema, err := manifest.SchemaOf(p.Descriptor())
	if err != nil {
		return nil, err
	}
	if bad := schema.Check(with); len(bad) > 0 {
		return nil, fmt.Errorf("with: %w", bad[0])
	}
	i, err := p.Configure(ctx, at, with)
	if err != nil {
		return nil, fmt.Errorf("with: %w", err)
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := time.Now()
	if strict, ok := i.(plugin.Strict); ok {
		a, r.Unwanted, err = strict.HandleStrict(ctx, call)
	} else {
		a, err = i.Handle(ctx, call)
	}
	r.Took = time.Since(start)
	if err == nil && a == nil {
		err = plugin.ErrAnswer
	}
	return a, err
}

// callOf makes the call of an input: a message as JSON, or a page.
func callOf(dir fs.FS, at crawl.Point, name string, page Page) (*plugin.Call, error) {
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		return nil, fmt.Errorf("the input: %w", err)
	}
	m := Empty(at)
	call := &plugin.Call{Message: m, Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ID: "test"}
	if path.Ext(name) != ".json" {
		call.Body = func() []byte { return data }
		return call, fillPage(m, name, data, page)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(m); err != nil {
		return nil, fmt.Errorf("%s is no message of the point %s: %w", name, at, err)
	}
	call.Body = func() []byte { return nil }
	return call, nil
}

// Empty returns an empty message of a point; nil where there is no such point.
func Empty(at crawl.Point) plugin.Message {
	switch at {
	case crawl.AtProvider:
		return &plugin.Seeds{}
	case crawl.AtRequest:
		return &plugin.Request{}
	case crawl.AtResponse:
		return &plugin.Response{}
	case crawl.AtDocument:
		return &plugin.Document{}
	case crawl.AtLinks:
		return &plugin.Links{}
	case crawl.AtRecord:
		return &plugin.Record{}
	case crawl.AtOutput:
		return &plugin.Delivery{}
	}
	return nil
}

// fillPage makes a message of a page.
func fillPage(m plugin.Message, name string, body []byte, page Page) (err error) {
	media := mime.TypeByExtension(path.Ext(name))
	u, err := weburl.Parse("https://example.com/" + name)
	if err != nil {
		return err
	}
	title, text := "", string(body)
	if page != nil {
		if title, text, err = page(body, media); err != nil {
			return err
		}
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	short, _, _ := mime.ParseMediaType(media) // an empty one of a suffix that nobody knows
	switch m := m.(type) {
	case *plugin.Response:
		*m = plugin.Response{URL: u.String(), Host: u.HostKey(), Path: u.Path(), Status: 200, ContentType: media,
			Bytes: int64(len(body)), FetchedAt: at}
	case *plugin.Document:
		*m = plugin.Document{URL: u.String(), Host: u.HostKey(), Path: u.Path(), Status: 200, ContentType: short,
			FetchedAt: at, Title: title, Text: text, Fields: map[string]any{}}
	case *plugin.Record:
		*m = plugin.Record{URL: u.String(), Host: u.HostKey(), Path: u.Path(), Status: 200, ContentType: short, FetchedAt: at,
			Title: title, Text: text, Bytes: int64(len(body)), Fields: map[string]any{}}
	default:
		return fmt.Errorf("%s: at %s the input must be a message in a file .json", name, m.Point())
	}
	return nil
}
