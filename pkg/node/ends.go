package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// Mode says where a job is crawled.
type Mode int

// The modes.
const (
	InDirectory Mode = iota
	OnServer
	InCluster
)

// CheckEnds finds what is wrong with the nodes of a job that give seeds and that write what is stored, as far as it can
// be told without looking at files. Its errors are *crawl.KeyError, and name the node.
func CheckEnds(job *crawl.Job, mode Mode) (errs []error) {
	files := map[string]string{}
	for i := range job.Pipeline.Nodes {
		n := &job.Pipeline.Nodes[i]
		var err error
		switch n.At {
		case crawl.AtProvider:
			err = checkProvider(job, n, mode)
		case crawl.AtOutput:
			err = checkOutput(n, files)
		default:
			continue
		}
		if err != nil {
			errs = append(errs, nodeFault(i, n, err))
		}
	}
	return errs
}

// nodeFault is an error about a node, by its key.
func nodeFault(i int, n *crawl.PluginNode, err error) error {
	key, text := "with", err.Error()
	if bad := (*plugin.ConfigError)(nil); errors.As(err, &bad) {
		text = bad.Text
		switch bad.Path {
		case "":
		case "at", "use", "when":
			key = bad.Path
		default:
			key = "with." + bad.Path
		}
	}
	return &crawl.KeyError{Key: fmt.Sprintf("pipeline.nodes[%d].%s", i, key),
		Problem: fmt.Sprintf("(node %s) %s", n.ID, text)}
}

func faultAt(path, format string, args ...any) error {
	return &plugin.ConfigError{Path: path, Text: fmt.Sprintf(format, args...)}
}

func checkProvider(job *crawl.Job, n *crawl.PluginNode, mode Mode) error {
	want, err := builtin.SeedsOf(n)
	if err != nil {
		return err
	}
	switch {
	case want.Dir != "" && mode == OnServer:
		return faultAt("dir", "%q: a server knows crawls as executions: name one with execution", want.Dir)
	case want.Execution != "" && mode != OnServer:
		return faultAt("execution", "%q: only `whirlpool serve` has executions: name the directory of a crawl with dir",
			want.Execution)
	case want.Execution != "" && want.Execution == job.ID:
		return faultAt("execution", "%q: that is this crawl itself", want.Execution)
	case want.Sitemap != "" && job.SeedsOnly:
		return faultAt("url", "%q: seeds_only follows nothing, so what it lists would not be fetched", want.Sitemap)
	}
	_, err = keepSeeds(n)
	return err
}

func checkOutput(n *crawl.PluginNode, files map[string]string) error {
	want, err := builtin.WrittenOf(n)
	if err != nil {
		return err
	}
	if want.Leaves() {
		_, _, err = outputOf(&crawl.Job{}, n, "")
		return err
	}
	if other, again := files[strings.ToLower(want.File)]; again {
		return faultAt("file", "%q: node %s writes it too", want.File, other)
	}
	files[strings.ToLower(want.File)] = n.ID
	_, _, err = outputOf(&crawl.Job{}, n, "")
	return err
}

// checkEnds finds the same, and what files tell: that those of providers can be read, unless they were, and that those
// of outputs are free or this crawl's.
func (e *Engine) checkEnds(ctx context.Context, job *crawl.Job) error {
	mode := InDirectory
	if e.store.Many() {
		mode = OnServer
	}
	if errs := CheckEnds(job, mode); len(errs) > 0 {
		return errors.Join(errs...)
	}
	var errs []error
	for i := range job.Pipeline.Nodes {
		n := &job.Pipeline.Nodes[i]
		var err error
		switch n.At {
		case crawl.AtProvider:
			err = e.lookAtProvider(ctx, job, n)
		case crawl.AtOutput:
			err = e.lookAtOutput(ctx, job, n)
		}
		if err != nil {
			errs = append(errs, nodeFault(i, n, err))
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) lookAtProvider(ctx context.Context, job *crawl.Job, n *crawl.PluginNode) error {
	want, err := builtin.SeedsOf(n)
	if err != nil {
		return err
	}
	note, err := noteOfProvider(job, n)
	if err != nil {
		return err
	}
	if _, known, err := e.store.Meta().Get(ctx, note); err != nil || known {
		return err
	}
	switch {
	case want.File != "":
		if _, _, err := statRegular(want.File); err != nil {
			return faultAt("file", "%v", err)
		}
	case want.Dir != "":
		if sameDir(want.Dir, e.store.JobDir(job.ID)) {
			return faultAt("dir", "%q: that is this crawl itself", want.Dir)
		}
		if err := isCrawl(want.Dir); err != nil {
			return faultAt("dir", "%v", err)
		}
	case want.Execution != "":
		if isCrawl(e.store.JobDir(want.Execution)) != nil && e.job(want.Execution) == nil {
			return faultAt("execution", "%q: there is no such execution", want.Execution)
		}
	}
	return nil
}

func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y) || filepath.Clean(a) == filepath.Clean(b)
}

func (e *Engine) lookAtOutput(ctx context.Context, job *crawl.Job, n *crawl.PluginNode) error {
	o, want, err := outputOf(job, n, e.store.JobDir(job.ID))
	if err == nil && !want.Leaves() {
		err = deliver.Taken(ctx, e.store.Meta(), &o)
	}
	if errors.Is(err, deliver.ErrTaken) {
		return faultAt("file", "%s: %v", filepath.Join(o.Dir, o.File), err)
	}
	return err
}
