package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/browser"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser/parsetool"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// renderTool is `whirlpool tool render`.
type renderTool struct {
	pageTool
	browser    string
	html       bool
	screenshot string
	scroll     bool
}

// renderedLine is the line that it prints.
type renderedLine struct {
	URL        string          `json:"url"`
	Verdict    string          `json:"verdict"`
	Detail     string          `json:"detail,omitempty"`
	Title      string          `json:"title,omitempty"`
	Text       string          `json:"text"`
	Links      []string        `json:"links"`
	Rendered   json.RawMessage `json:"rendered,omitempty"`
	Requests   int             `json:"requests,omitempty"`   // of a file: what its scripts asked for, in vain
	Navigation []string        `json:"navigation,omitempty"` // of a file: where its scripts wanted to go
}

func toolRender() *cobra.Command {
	p := &renderTool{}
	cmd := &cobra.Command{
		Use:   "render FILE|URL",
		Short: `Render a page in the browser, which has no network: {"url","verdict","title","text","links","rendered"}`,
		Long: `A URL is crawled as any other page, with robots.txt and delay, and so is what its scripts ask for. A FILE is
rendered alone: what its scripts ask for is not to be had. --html prints the HTML that came of a file, --screenshot FILE
keeps a picture of it (WebP).`,
		Example: `  whirlpool tool render https://example.org/app
  whirlpool tool render --base https://example.org/ --html page.html`,
		Args: cobra.ExactArgs(1),
	}
	p.flags(cmd)
	cmd.Flags().StringVar(&p.browser, "browser", "", "`file` of the browser (default chromium, or what else is in PATH)")
	cmd.Flags().BoolVar(&p.html, "html", false, "print the HTML that came of a FILE instead")
	cmd.Flags().StringVar(&p.screenshot, "screenshot", "", "keep a picture of a FILE in this `file`")
	cmd.Flags().BoolVar(&p.scroll, "scroll", true, "scroll to the end, for lists that load as one reads")
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		if !isPageURL(args[0]) {
			return p.renderFile(cmd, args[0])
		}
		if p.html || p.screenshot != "" {
			return usage("--html and --screenshot are for files: of a URL only the record is kept")
		}
		return p.renderURL(cmd, args[0])
	})
	return cmd
}

func printLine(w io.Writer, line *renderedLine) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if line.Links == nil {
		line.Links = []string{}
	}
	if err := enc.Encode(line); err != nil {
		return fmt.Errorf("print what was rendered: %w", err)
	}
	return nil
}

// renderURL crawls one URL, and has it rendered.
func (p *renderTool) renderURL(cmd *cobra.Command, url string) (err error) {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.MaxDepth, job.Sitemaps = "tool", []string{url}, crawl.ScopeAny, 0, false
	job.MaxPages, job.NearDuplicate = job.Limits.Redirects+1, -1
	job.Render.Mode, job.Render.NoScroll = crawl.RenderAlways, !p.scroll
	if err := checkJob(&job); err != nil {
		return exitStatus{exitUsage, err}
	}
	dir, err := os.MkdirTemp("", "whirlpool-render-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f := &crawlFlags{out: filepath.Join(dir, "out"), quiet: true, concurrency: node.Default().Frontier.Window,
		allowPrivate: p.allowPrivate, browser: p.browser}
	if err := f.run(cmd.Context(), &job, io.Discard, cmd.ErrOrStderr()); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	data, err := os.ReadFile(filepath.Join(f.out, "pages.jsonl"))
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	for line := range bytes.Lines(data) {
		if jsonl.IsReplaced(line) {
			continue
		}
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			return err
		}
		return printLine(cmd.OutOrStdout(), recordLine(r))
	}
	return fmt.Errorf("%s: there is no page", url)
}

func recordLine(r *crawl.Record) *renderedLine {
	line := &renderedLine{URL: r.URL.String(), Verdict: "not rendered", Title: r.Title, Text: r.Text}
	if r.Rendered != nil {
		line.Verdict, line.Rendered = render.Done, jsonl.AppendRendered(nil, r.Rendered)
	}
	for i := range r.Links {
		if !r.Links[i].URL.IsZero() {
			line.Links = append(line.Links, r.Links[i].URL.String())
		}
	}
	return line
}

// renderFile renders a file alone.
func (p *renderTool) renderFile(cmd *cobra.Command, file string) (err error) {
	if p.base == "" {
		p.base = "http://localhost/"
	} else if _, err := weburl.Parse(p.base); err != nil {
		return usage("--base %q: %v", p.base, err)
	}
	r, err := open(cmd, file)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(r, crawl.MaxRendered))
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Minute)
	defer cancel()
	b, err := browser.New(ctx, browser.Config{Path: p.browser})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	req := render.Request{URL: p.base, Status: http.StatusOK,
		Header: http.Header{"Content-Type": {render.ContentType("", "", body)}}, Body: body, Scroll: p.scroll,
		Screenshot: p.screenshot != "", Seed: true, Nofollow: true}
	res, err := b.Render(ctx, req,
		func(context.Context, render.Sub) render.Answer { return render.Answer{Fail: "Failed"} })
	if err != nil {
		return err
	}
	if p.screenshot != "" {
		if err := os.WriteFile(p.screenshot, res.Screenshot, 0o644); err != nil {
			return err
		}
	}
	if p.html {
		_, err = cmd.OutOrStdout().Write(append(res.HTML, '\n'))
		return err
	}
	return p.printFile(cmd.OutOrStdout(), &res)
}

func (p *renderTool) printFile(to io.Writer, res *render.Result) error {
	line := &renderedLine{URL: p.base, Verdict: res.Verdict, Detail: res.Detail, Links: res.Links, Requests: res.Requests,
		Navigation: res.Navigated}
	if len(res.HTML) > 0 {
		r, err := parsetool.Record(p.base, bytes.NewReader(res.HTML), crawl.Extract{})
		if err != nil {
			return err
		}
		line.Title, line.Text = r.Title, r.Text
	}
	part := &crawl.RenderedPart{At: time.Now().UTC(), Wall: res.Wall, CPU: res.CPU, Settled: res.Settled}
	line.Rendered = jsonl.AppendRendered(nil, part)
	return printLine(to, line)
}
