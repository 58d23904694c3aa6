package builtin

import (
	"fmt"
	"regexp"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Written says what a node at output writes.
type Written struct {
	File      string   // below outputs/ in the directory of the crawl; its ending names the format (of Parquet its parts are numbered)
	Columns   []string // none: those of the format
	Originals bool     // no copies
	RawText   bool     // in CSV: cells that a spreadsheet would run stay as they are
}

// maxColumns bounds the columns of an output.
const maxColumns = 200

// outputName is what a file may be called: no directory, nothing hidden, nothing that a system gives a meaning.
var outputName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(csv|jsonl|parquet)$`)

// file writes records into a file that grows.
func file() *builtin {
	return &builtin{plugin.Descriptor{Name: "file", Summary: "Writes what was stored into a file that grows with the crawl, as CSV, JSON Lines or Parquet",
		Serves: serving(nil, crawl.AtOutput),
		Config: object([]string{"file"}, map[string]any{
			"file":      prop("string", "name of the file, as in pages.csv, pages.jsonl or pages.parquet; it lies in outputs, in the directory of the crawl"),
			"columns":   texts("keys of a record in their order, as in url, title and fields.price; none: whole records as JSON Lines, all but lists as CSV, all as Parquet"),
			"originals": prop("boolean", "leave out copies"),
			"raw_text":  prop("boolean", "leave cells of CSV as they are that a spreadsheet would take for a formula")})}, makeFile}
}

func makeFile(_ crawl.Point, with map[string]any) (handler, error) {
	if _, err := writtenOf(with); err != nil {
		return nil, err
	}
	return func(*plugin.Call) (*plugin.Answer, error) { return pass, nil }, nil
}

// WrittenOf returns what a node at output asks for.
func WrittenOf(n *crawl.PluginNode) (*Written, error) {
	b, ok := all[n.Use]
	if ok {
		_, ok = b.d.ServesAt(crawl.AtOutput)
	}
	if !ok {
		return nil, fmt.Errorf("use: %s writes nothing", n.Use)
	}
	return writtenOf(n.With)
}

func writtenOf(with map[string]any) (*Written, error) {
	var set struct {
		File      string
		Columns   []string
		Originals bool
		RawText   bool `json:"raw_text"`
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	if !outputName.MatchString(set.File) {
		return nil, bad("file", "%q: name it with letters, digits, '.', '_' and '-', and .csv, .jsonl or .parquet at its end; it lies in no directory", set.File)
	}
	if len(set.Columns) > maxColumns {
		return nil, bad("columns", "%d: want at most %d", len(set.Columns), maxColumns)
	}
	return &Written{File: set.File, Columns: set.Columns, Originals: set.Originals, RawText: set.RawText}, nil
}
