package main

import (
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// store is where a crawl in a directory can keep what it finds.
type store struct {
	name, title string
	set         func(*node.LocalOptions)
	records     bool // it is one of the forms that records can have: one of those is chosen
}

// stores are the names that --store knows. A further store is a further row.
var stores = []store{
	{"jsonl", "records in pages.jsonl", func(*node.LocalOptions) {}, true},
	{"zst", "records in pages.jsonl.zst, as --compress", func(o *node.LocalOptions) { o.Store.Compress = true }, true},
	{"none", "no records", func(o *node.LocalOptions) { o.NoRecords = true }, true},
	{"warc", "WARC files, as --warc; with none before it nothing else", func(o *node.LocalOptions) { o.WARC = true },
		false},
}

func storeNamed(name string) (store, bool) {
	i := slices.IndexFunc(stores, func(s store) bool { return s.name == name })
	if i < 0 {
		return store{}, false
	}
	return stores[i], true
}

// storeHelp describes --store.
func storeHelp() string {
	parts := make([]string, len(stores))
	for i, s := range stores {
		parts[i] = s.name + " (" + s.title + ")"
	}
	return "what is kept, with commas between: " + strings.Join(parts, ", ")
}

func storeNames() []string {
	names := make([]string, len(stores))
	for i := range stores {
		names[i] = stores[i].name
	}
	return names
}

// has reports whether --store names a store.
func (o *outputFlags) has(name string) bool { return slices.Contains(o.stores, name) }

// checkStores finds what is wrong with --store.
func (o *outputFlags) checkStores(out string) error {
	forms := 0
	for _, name := range o.stores {
		s, ok := storeNamed(name)
		switch {
		case !ok:
			return usage("--store %q: want some of %s", name, strings.Join(storeNames(), ", "))
		case s.records:
			forms++
		}
	}
	toStdout := out == toStdoutName
	switch {
	case forms > 1, o.compress && (o.has("none") || o.has("jsonl")):
		return usage("--store: records are kept in one form: jsonl, zst or none")
	case toStdout && o.has("warc"):
		return usage("-o - keeps no files: --store warc needs a directory")
	case toStdout && o.has("none") && o.urls == "":
		return usage("-o - writes records: --store none leaves none; --urls prints URLs without them")
	}
	return nil
}

// checkForm refuses lines for a crawl whose records are compressed: they stay in the form that they have.
func (f *crawlFlags) checkForm() error {
	if f.fresh || !f.has("jsonl") {
		return nil
	}
	name, packed, err := local.PagesFile(f.out, false)
	if err == nil && packed {
		return usage("--store jsonl: the records are compressed, in %s, and stay so: leave it out; `whirlpool export "+
			"--format jsonl` writes lines", name)
	}
	return nil //nolint:nilerr // whoever opens the directory says it
}

// choose sets the stores of a crawl.
func (o *outputFlags) choose(opt *node.LocalOptions) {
	opt.Store.Compress = o.compress
	for _, name := range o.stores {
		if s, ok := storeNamed(name); ok {
			s.set(opt)
		}
	}
}
