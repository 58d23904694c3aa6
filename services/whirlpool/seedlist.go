package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
)

// maxBadTold is how many lines of a list that are no seeds are told one by one.
const maxBadTold = 100

// seedFlags are the flags that name a list of seeds.
type seedFlags struct {
	seeds, urls string
	told        io.Writer // where bad lines are told; nil: nowhere
	bad         int
}

// addLists declares the flags of commands that read lists of seeds.
func (f *seedFlags) addLists(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.seeds, "seeds", "",
		"`file` with a URL to start from a line, empty lines and # comments left out; -: standard input")
	fl.StringVar(&f.urls, "url-list", "", "`file` with a URL to fetch a line, and nothing else: no link is followed, "+
		"and --max-pages does not bound it; -: standard input")
}

// named takes the - off the arguments, which means a list on standard input, and checks that one list is named.
func (f *seedFlags) named(args []string) (rest []string, err error) {
	rest = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == seedlist.Stdin })
	if len(rest) < len(args) && f.urls != seedlist.Stdin {
		if f.seeds != "" && f.seeds != seedlist.Stdin {
			return nil, usage("- means the seeds of standard input, and --seeds names %s: give one of them", f.seeds)
		}
		f.seeds = seedlist.Stdin
	}
	if f.seeds != "" && f.urls != "" {
		return nil, usage("--seeds follows links and --url-list does not: give one of them")
	}
	for _, name := range rest {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return nil, usage("%s is a file here: --seeds %[1]s reads URLs from it, -c %[1]s settings; "+
				"if it is a host, name it http://%[1]s/", name)
		}
	}
	return rest, nil
}

// notDirectories are ends of the names of files that other crawlers write their records or archives to.
var notDirectories = []string{".csv", ".json", ".jsonl", ".ndjson", ".xml", ".parquet", ".txt", ".warc", ".warc.gz",
	".wacz", ".zip", ".html"}

// checkOut refuses a file, and a directory that is not there and called as a file is: it was probably meant to be one.
func checkOut(out string) error {
	info, err := os.Stat(out)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("-o %s is a file, and the crawl wants a directory; -o - writes records to standard output", out)
	}
	if _, linked := os.Readlink(out); err != nil && linked == nil {
		return usage("-o %s is a link to what is not there: make the directory that it names, or name another one", out)
	}
	name := strings.ToLower(out)
	if err == nil || !slices.ContainsFunc(notDirectories, func(end string) bool { return strings.HasSuffix(name, end) }) {
		return nil
	}
	return usage("-o %s: the crawl wants a directory, and this is called as a file is. Afterwards "+
		"`whirlpool export -o DIR FILE` writes CSV, JSON Lines, Parquet or WACZ; -o - writes records to standard output", out)
}

// any reports whether a list is named.
func (f *seedFlags) any() bool { return f.seeds != "" || f.urls != "" }

// apply makes the list that is named the job's. Its name is absolute: the crawl may go on from elsewhere.
func (f *seedFlags) apply(cmd *cobra.Command, job *crawl.Job) error {
	name := f.seeds
	if f.urls != "" {
		name = f.urls
		job.SeedsOnly = true
		if !cmd.Flags().Changed("max-pages") {
			job.MaxPages = 0
		}
	}
	if name == "" {
		return nil
	}
	if name != seedlist.Stdin {
		abs, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		if info, err := os.Stat(abs); err != nil {
			return usage("seed list: %v", err)
		} else if info.IsDir() {
			return usage("seed list %s is a directory: name a file", name)
		}
		name = abs
	}
	job.SeedList = name
	return nil
}

// nameOfList is what a crawl is called whose seeds are in a list.
func nameOfList(list string) string {
	if list == seedlist.Stdin {
		return "stdin"
	}
	base := filepath.Base(list)
	if stem := strings.TrimSuffix(base, filepath.Ext(base)); stem != "" {
		return stem
	}
	return base
}

// tellBad says which line of a list is no seed.
func (f *seedFlags) tellBad(name string) func(line int, err error) {
	return func(line int, err error) {
		f.bad++
		switch {
		case f.told == nil:
		case f.bad <= maxBadTold:
			fmt.Fprintf(f.told, "whirlpool: %s: line %d: %v\n", listName(name), line, err)
		case f.bad == maxBadTold+1:
			fmt.Fprintf(f.told, "whirlpool: %s: further lines that are no seeds are only counted\n", listName(name))
		}
	}
}

// tellProvided says what a node of a pipeline gave that is no seed.
func (f *seedFlags) tellProvided(node string, line int, err error) {
	f.tellBad("node "+node)(line, err)
}

// listName is a list as people know it.
func listName(name string) string {
	if name == seedlist.Stdin {
		return "standard input"
	}
	return name
}

// list is the list that a job names, for a command that reads it itself; nil: it names none.
func (f *seedFlags) list(cmd *cobra.Command, job *crawl.Job) *seedlist.List {
	if job.SeedList == "" {
		return nil
	}
	return &seedlist.List{Name: listName(job.SeedList), Bad: f.tellBad(job.SeedList), Open: func() (io.ReadCloser, error) {
		if job.SeedList == seedlist.Stdin {
			return io.NopCloser(cmd.InOrStdin()), nil
		}
		return os.Open(job.SeedList)
	}}
}

// countText says for people what was in a list.
func countText(name string, c *seedlist.Count) string {
	text := fmt.Sprintf("%s: %s of %s", listName(name), plural(c.Seeds, "seed"), plural(c.Lines, "line"))
	if c.Known > 0 {
		text += fmt.Sprintf(", %d known before", c.Known)
	}
	switch {
	case c.Bad == 1:
		text += ", 1 line is no seed"
	case c.Bad > 0:
		text += fmt.Sprintf(", %d lines are no seeds", c.Bad)
	}
	if !c.Ended {
		text += "; it was not read to its end"
	}
	return text
}

// stdinFor returns standard input where it is named as the list of seeds: nothing else reads it.
func (f *seedFlags) stdinFor(in io.Reader) io.Reader {
	if f.seeds != seedlist.Stdin && f.urls != seedlist.Stdin {
		return nil
	}
	return in
}
