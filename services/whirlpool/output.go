package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// outputFlags say what a crawl writes to standard output.
type outputFlags struct {
	urls     string   // urlsFound, urlsFetched, or empty: records
	fields   []string // of the records; none: whole records
	stores   []string
	compress bool // of a new crawl
}

// What --urls writes.
const (
	urlsFound   = "found"
	urlsFetched = "fetched"
)

// addOutput declares the flags.
func (o *outputFlags) addOutput(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&o.urls, "urls", "",
		"print `which` URLs only, a line each, on standard output: found (in the scope) or fetched")
	fl.StringSliceVar(&o.fields, "fields", nil,
		"print only these `keys` of the records on standard output, such as url,title,fields.price")
	_ = cmd.RegisterFlagCompletionFunc("urls",
		cobra.FixedCompletions([]string{urlsFound, urlsFetched}, cobra.ShellCompDirectiveNoFileComp))
	register(cmd, "fields", completeColumns)
	fl.StringSliceVar(&o.stores, "store", nil, storeHelp())
	_ = cmd.RegisterFlagCompletionFunc("store", cobra.FixedCompletions(storeNames(), cobra.ShellCompDirectiveNoFileComp))
	fl.BoolVar(&o.compress, "compress", false,
		"write the records of a new crawl as pages.jsonl.zst (zstd), which needs a tenth to a half of the room")
}

// implied makes standard output the place of what the flags ask for, where no other is named.
func (o *outputFlags) implied(out *string) {
	if *out == "" && (o.urls != "" || len(o.fields) > 0) {
		*out = toStdoutName
	}
}

// check finds what is wrong with the flags.
func (o *outputFlags) check(out string) error {
	if err := o.checkStores(out); err != nil {
		return err
	}
	switch {
	case o.urls == "" && len(o.fields) == 0:
		return nil
	case o.urls != "" && o.urls != urlsFound && o.urls != urlsFetched:
		return usage("--urls %q: want %s or %s", o.urls, urlsFound, urlsFetched)
	case out != toStdoutName:
		return usage("--urls and --fields write to standard output: leave -o out, or give -o -; of a directory, " +
			"`whirlpool export --fields` does it")
	case o.urls != "" && len(o.fields) > 0:
		return usage("--urls prints URLs and --fields keys of records: give one of them")
	}
	if _, err := export.NewLines(io.Discard, o.fields); err != nil {
		return usage("--fields: %v", err)
	}
	return nil
}

// shape makes a stream write what the flags ask for.
func (o *outputFlags) shape(s *recordStream, opt *node.LocalOptions) (err error) {
	if len(o.fields) > 0 {
		s.w, err = export.NewLines(s.w, o.fields)
		return err
	}
	urls := &urlBacklog{}
	switch o.urls {
	case urlsFound:
		opt.Tap.Found = urls.add
	case urlsFetched:
		opt.Tap.Fetched = urls.add
	default:
		return nil
	}
	s.from = urls
	return nil
}

// urlBacklog are URLs, a line each.
type urlBacklog struct {
	mu     sync.Mutex
	lines  []byte
	writes int64 // bytes that are being written
}

func (b *urlBacklog) add(u weburl.URL) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(append(b.lines, u.String()...), '\n')
}

func (b *urlBacklog) drain(w io.Writer) error {
	b.mu.Lock()
	lines := b.lines
	b.lines, b.writes = nil, int64(len(lines))
	b.mu.Unlock()
	if len(lines) == 0 {
		return nil
	}
	_, err := w.Write(lines)
	b.mu.Lock()
	b.writes = 0
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("write URLs: %w", err)
	}
	return nil
}

func (b *urlBacklog) behind() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.writes + int64(len(b.lines))
}
