package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/mdfiles"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser/parsetool"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// pageTool is a tool over a page: a file, standard input, or a URL, which is crawled as any other, with robots.txt and
// all.
type pageTool struct {
	base         string
	allowPrivate bool
}

func (p *pageTool) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.base, "base", "", "`URL` that the file came from, which its links are relative to")
	cmd.Flags().BoolVar(&p.allowPrivate, "allow-private", false, "permit loopback and private addresses")
}

// record makes the record of the page.
func (p *pageTool) record(cmd *cobra.Command, arg string, what crawl.Extract) (*crawl.Record, error) {
	if isPageURL(arg) {
		return p.fetch(cmd.Context(), arg, what, cmd.ErrOrStderr())
	}
	base := p.base
	if base == "" {
		base = "http://localhost/"
	} else if _, err := weburl.Parse(base); err != nil {
		return nil, usage("--base %q: %v", base, err)
	}
	r, err := open(cmd, arg)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return parsetool.Record(base, r, what)
}

func isPageURL(arg string) bool {
	arg = strings.ToLower(arg)
	return strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

// fetch crawls one URL, and where it redirects to.
func (p *pageTool) fetch(ctx context.Context, url string, what crawl.Extract, stderr io.Writer) (*crawl.Record, error) {
	job := crawl.DefaultJob()
	job.Seeds, job.Scope, job.MaxDepth, job.Sitemaps, job.Extract = []string{url}, crawl.ScopeAny, 0, false, what
	job.ID, job.MaxPages = "tool", job.Limits.Redirects+1
	if err := checkJob(&job); err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	f := &crawlFlags{out: toStdoutName, quiet: true, concurrency: node.Default().Frontier.Window,
		allowPrivate: p.allowPrivate}
	var out bytes.Buffer
	if err := f.run(ctx, &job, &out, stderr); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	line, _, _ := bytes.Cut(out.Bytes(), []byte("\n"))
	if len(line) == 0 {
		return nil, fmt.Errorf("%s: there is no page", url)
	}
	return jsonl.ParseRecord(line)
}

func toolMarkdown() *cobra.Command {
	p, front := &pageTool{}, false
	cmd := &cobra.Command{
		Use:   "markdown FILE|URL",
		Short: "Write the main text of a page as Markdown",
		Example: `  whirlpool tool markdown --base https://example.org/a/ page.html
  whirlpool tool markdown https://example.org/`,
		Args: cobra.ExactArgs(1),
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&front, "front-matter", false, "with front matter: URL, title, language, author, dates")
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		r, err := p.record(cmd, args[0], crawl.Extract{Markdown: true, Structured: front})
		if err != nil {
			return err
		}
		out := []byte(r.Markdown + "\n")
		if front {
			out = mdfiles.Content(r)
		}
		_, err = cmd.OutOrStdout().Write(out)
		return err
	})
	return cmd
}

// structuredLine is the line of `whirlpool tool structured`.
type structuredLine struct {
	URL        string          `json:"url"`
	Author     string          `json:"author,omitempty"`
	Published  string          `json:"published,omitempty"`
	Modified   string          `json:"modified,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
}

func toolStructured() *cobra.Command {
	p := &pageTool{}
	cmd := &cobra.Command{
		Use:     "structured FILE|URL",
		Short:   `Print JSON-LD, microdata, RDFa, OpenGraph, author and dates of a page, as JSON`,
		Example: `  whirlpool tool structured page.html | jq .structured.jsonld`,
		Args:    cobra.ExactArgs(1),
	}
	p.flags(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		r, err := p.record(cmd, args[0], crawl.Extract{Structured: true})
		if err != nil {
			return err
		}
		line := structuredLine{URL: r.URL.String(), Author: r.Author, Published: mdfiles.Date(r.Published),
			Modified:   mdfiles.Date(r.Modified),
			Structured: json.RawMessage(r.Structured)}
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetEscapeHTML(false)
		if err := enc.Encode(line); err != nil {
			return errors.Join(errors.New("print structured data"), err)
		}
		return nil
	})
	return cmd
}
