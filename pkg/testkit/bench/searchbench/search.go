package searchbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// Asked is how many searches are measured.
const Asked = 50

// Options say what is measured.
type Options struct {
	Dir          string // an empty one
	Pages, Words int
	Out          io.Writer
	// Beside begins a crawl, and returns what ends it; nil: nothing crawls.
	Beside func() (stop func() error, err error)
}

// Run makes records, indexes them and searches, alone and beside a crawl.
func Run(ctx context.Context, o Options) (err error) {
	octets, err := Write(filepath.Join(o.Dir, "pages.jsonl"), o.Pages, o.Words)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%d pages, %.1f KB of text each; load of the machine %s\n", o.Pages,
		float64(octets)/float64(o.Pages)/1e3, load())
	d, err := explore.OpenDirIndex(ctx, o.Dir, false, func(string) {})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	began, cpu := time.Now(), processor()
	for more := true; more; {
		if more, err = d.Step(ctx); err != nil {
			return err
		}
	}
	n := float64(o.Pages)
	fmt.Fprintf(o.Out, "indexed: %.3f ms of a processor a page, %.2f KB a page, %s in all; load %s\n",
		(processor()-cpu).Seconds()*1e3/n, float64(d.Size())/1e3/n, time.Since(began).Round(time.Second), load())
	if err := ask(ctx, d, "alone", o.Out); err != nil || o.Beside == nil {
		return err
	}
	stop, err := o.Beside()
	if err != nil {
		return err
	}
	return errors.Join(ask(ctx, d, "beside a crawl", o.Out), stop())
}

// ask makes each search twice, and prints how long the first and the second took.
func ask(ctx context.Context, d *explore.DirIndex, how string, out io.Writer) error {
	for _, time := range []string{"first", "again"} {
		took, found, err := askOnce(ctx, d)
		if err != nil {
			return err
		}
		slices.Sort(took)
		fmt.Fprintf(out, "%d searches %s, %s: p50 %.1f ms, p95 %.1f ms, longest %.1f ms; %d found nothing; load %s\n",
			len(took), how, time, ms(took[len(took)/2]), ms(took[len(took)*95/100]), ms(took[len(took)-1]), found, load())
	}
	return nil
}

func askOnce(ctx context.Context, d *explore.DirIndex) (took []time.Duration, none int, err error) {
	for _, q := range Queries(Asked) {
		began := time.Now()
		l, err := d.Records(ctx, explore.RecordFilter{Query: q}, explore.Page{Limit: 10})
		if err != nil {
			return nil, 0, fmt.Errorf("search for %s: %w", q, err)
		}
		if took = append(took, time.Since(began)); len(l.Items) == 0 {
			none++
		}
	}
	return took, none, nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// processor is what this process has used of the processors.
func processor() time.Duration {
	used, _ := system.ProcessorTime()
	return used
}

// load is the machine's load of the last minute, where it is told.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
