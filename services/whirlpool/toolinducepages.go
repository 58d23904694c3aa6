package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/induce"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// pageSource reads pages from files, from a crawl's directory, or from the Web.
type pageSource struct {
	dir          string
	allowPrivate bool
}

// enough is how many further pages are taken from a directory.
const enough = 20

// read reads the examples and the further pages.
func (s *pageSource) read(cmd *cobra.Command, examples, also []string) (pages, more []induce.Page, err error) {
	if also, err = unfolded(also); err != nil {
		return nil, nil, err
	}
	all := slices.Concat(examples, also)
	read := func(d *stored) error {
		for _, ref := range all {
			p, err := s.page(cmd, d, ref)
			if err != nil {
				return err
			}
			pages = append(pages, p)
		}
		more = pages[len(examples):]
		pages = pages[:len(examples):len(examples)]
		if s.dir != "" && len(also) == 0 {
			more, err = d.like(cmd.Context(), pages)
		}
		return err
	}
	switch urls := slices.DeleteFunc(slices.Clone(all), func(ref string) bool { return !isPageURL(ref) }); {
	case s.dir != "":
		err = inStored(cmd.Context(), s.dir, read)
	case len(urls) > 0:
		err = s.fetched(cmd, urls, read)
	default:
		err = read(nil)
	}
	return pages, more, err
}

// unfolded puts the files of a directory in its place: those of HTML, the first twenty.
func unfolded(refs []string) (out []string, err error) {
	for _, ref := range refs {
		info, err := os.Stat(ref)
		if isPageURL(ref) || err != nil || !info.IsDir() {
			out = append(out, ref)
			continue
		}
		var files []string
		for _, ending := range []string{"*.html", "*.htm", "*.xhtml"} {
			found, err := filepath.Glob(filepath.Join(ref, ending))
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
		if len(files) == 0 {
			return nil, usage("--also %s: there is no *.html in it; pages of a crawl are taken with -o", ref)
		}
		slices.Sort(files)
		out = append(out, files[:min(len(files), enough)]...)
	}
	return out, nil
}

// page reads one page.
func (s *pageSource) page(cmd *cobra.Command, d *stored, ref string) (induce.Page, error) {
	if isPageURL(ref) {
		return d.page(cmd.Context(), ref)
	}
	r, err := open(cmd, ref)
	if err != nil {
		return induce.Page{}, err
	}
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, induce.MaxPage+1))
	if err != nil {
		return induce.Page{}, fmt.Errorf("%s: %w", ref, err)
	}
	return induce.Page{Name: ref, Body: parser.Decode(body, "text/html", "")}, nil
}

// fetched crawls the URLs, and no others, into a directory that is gone afterwards.
func (s *pageSource) fetched(cmd *cobra.Command, urls []string, use func(*stored) error) (err error) {
	dir, err := os.MkdirTemp("", "whirlpool-induce-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.MaxDepth, job.Sitemaps, job.KeepBodies = "tool", urls, crawl.ScopeAny, 0, false, true
	job.NearDuplicate, job.MaxPages = 0, len(urls)*(job.Limits.Redirects+1)
	if err := checkJob(&job); err != nil {
		return exitStatus{exitUsage, err}
	}
	f := &crawlFlags{out: filepath.Join(dir, "crawl"), quiet: true, concurrency: node.Default().Frontier.Window,
		allowPrivate: s.allowPrivate}
	if err := f.run(cmd.Context(), &job, io.Discard, cmd.ErrOrStderr()); err != nil {
		return err
	}
	return inStored(cmd.Context(), f.out, use)
}

// stored is a crawl that has ended, or rests.
type stored struct {
	*directory.Directory
	job *crawl.Job
}

func inStored(ctx context.Context, dir string, use func(*stored) error) (err error) {
	d, err := directory.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if d.Running() {
		return usage("the crawl in %s is running: stop it (`whirlpool stop -o %s`) before its pages are read", dir, dir)
	}
	job, err := d.Job(ctx)
	if err != nil {
		return err
	}
	return use(&stored{d, job})
}

// page is a stored page with its body.
func (d *stored) page(ctx context.Context, ref string) (induce.Page, error) {
	u, err := weburl.Parse(ref)
	if err != nil {
		return induce.Page{}, usage("%q: %v", ref, err)
	}
	line, found, err := d.Store.Pages().PageLine(ctx, u.Key())
	switch {
	case err != nil:
		return induce.Page{}, err
	case !found:
		return induce.Page{}, fmt.Errorf(
			"%s: there is no page of that address: `whirlpool try %s` says why, and where it leads", ref, ref)
	}
	rec, err := jsonl.ParseRecord(line)
	if err != nil {
		return induce.Page{}, err
	}
	return d.read(ctx, rec)
}

// read reads the body of a record: a kept one, or that of an archive.
func (d *stored) read(ctx context.Context, rec *crawl.Record) (induce.Page, error) {
	p := induce.Page{Name: rec.URL.String(), URL: rec.URL}
	if !parser.HasFields(rec.ContentType) {
		return p, fmt.Errorf("%s is %s: only HTML has elements", rec.URL, rec.ContentType)
	}
	body, kept, err := d.Store.KeptBodies().Kept(ctx, d.job.ID, rec.Digest)
	if err == nil && !kept {
		body, err = d.archived(rec)
	}
	if err != nil {
		return p, fmt.Errorf("body of %s: %w", rec.URL, err)
	}
	if body == nil {
		return p, fmt.Errorf("the body of %s is not kept: crawl with --keep-bodies or --warc", rec.URL)
	}
	p.Body = parser.Decode(body, rec.ContentType, rec.Charset)
	return p, nil
}

// errFound ends the reading of an archive.
var errFound = errors.New("found")

// archived looks for a body in the archives; nil: none has it.
func (d *stored) archived(rec *crawl.Record) (body []byte, err error) {
	names, err := filepath.Glob(filepath.Join(d.Dir, "warc", "*.warc.gz"))
	for i := 0; err == nil && i < len(names); i++ {
		err = eachResponse(names[i], func(r *warc.Response) error {
			if r.Digest == rec.Digest {
				body = r.Body
				return errFound
			}
			return nil
		})
	}
	if errors.Is(err, errFound) {
		err = nil
	}
	return body, err
}

func eachResponse(name string, use func(*warc.Response) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return warc.EachResponse(f, induce.MaxPage, use)
}

// like are further pages whose addresses are like those of the examples.
func (d *stored) like(ctx context.Context, examples []induce.Page) (out []induce.Page, err error) {
	urls := make([]weburl.URL, len(examples))
	for i := range examples {
		urls[i] = examples[i].URL
	}
	is := induce.Alike(urls)
	err = jsonl.EachRecord(d.Store.Pages().Lines(), func(rec *crawl.Record) error {
		switch {
		case len(out) == enough:
			return errFound
		case !rec.DuplicateOf.IsZero(), !is(rec.URL), slices.Contains(urls, rec.URL):
			return context.Cause(ctx)
		}
		if p, err := d.read(ctx, rec); err == nil { // without a body it is none of use
			out = append(out, p)
		}
		return context.Cause(ctx)
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return out, err
}
