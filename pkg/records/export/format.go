package export

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Format is the format of what Run writes.
type Format string

// The formats that callers name. All formats are rows of the table.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Parquet Format = "parquet"
)

// format is a row of the table of formats.
type format struct {
	name  Format
	title string   // for people
	ends  []string // of names of files that hold it
	open  func(out io.Writer, columns []column, opt Options) (sink, error)
	// whole says that records are written as they are where no columns are named.
	whole bool
	// flat says that lists are left out, and fields replaced by a column each, where no columns are named.
	flat bool
	// binary says that it is not for a terminal.
	binary bool
	// grows says that rows can be added to a file at any time: nothing follows the last.
	grows bool
	// typed says that columns have types: Options.Types should be set.
	typed bool
}

// formats is the table of formats. A new one is a sink in a file of its own and a row here.
var formats = []format{
	{name: CSV, title: "CSV", ends: []string{".csv"}, open: newCSV, flat: true, grows: true},
	{name: JSONL, title: "JSON Lines", ends: []string{".jsonl", ".ndjson", ".json"}, open: newJSONL, whole: true,
		grows: true},
	{name: Parquet, title: "Parquet", ends: []string{".parquet"}, open: newParquet, binary: true, typed: true},
}

// row returns the format's row of the table; the zero value where there is no such format.
func (f Format) row() format {
	i := slices.IndexFunc(formats, func(row format) bool { return row.name == f })
	if i < 0 {
		return format{}
	}
	return formats[i]
}

// Title is the format's name for people.
func (f Format) Title() string { return f.row().title }

// Typed reports whether columns of the format have types.
func (f Format) Typed() bool { return f.row().typed }

// Binary reports whether the format is not for a terminal.
func (f Format) Binary() bool { return f.row().binary }

// Whole reports whether records are written as they are where no columns are named.
func (f Format) Whole() bool { return f.row().whole }

// Formats returns all formats.
func Formats() (out []Format) {
	for i := range formats {
		out = append(out, formats[i].name)
	}
	return out
}

// FormatOf returns the format of a file by the end of its name; CSV where that says nothing.
func FormatOf(file string) Format {
	end := strings.ToLower(filepath.Ext(file))
	for i := range formats {
		if slices.Contains(formats[i].ends, end) {
			return formats[i].name
		}
	}
	return CSV
}

// Choice lists the formats for people, by what name makes of each: "csv, jsonl or parquet".
func Choice(name func(Format) string) string {
	names := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		names = append(names, name(f))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// check reports a format that is not in the table.
func (f Format) check() error {
	if f.row().open != nil {
		return nil
	}
	return fmt.Errorf("format %q: want %s", string(f), Choice(Format.String))
}

// String implements fmt.Stringer: the name by which options name the format.
func (f Format) String() string { return string(f) }
