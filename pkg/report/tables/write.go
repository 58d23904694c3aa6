package tables

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The reports.
const (
	Hosts   = "hosts"
	MIME    = "mime"
	Status  = "status"
	Seeds   = "seeds"
	Reasons = "reasons"
)

// Names returns the reports in the order in which they are written.
func Names() []string { return []string{Hosts, MIME, Status, Seeds, Reasons} }

// Formats returns how they can be written.
func Formats() []string { return []string{Text, CSV, JSON} }

// The formats.
const (
	Text = "text"
	CSV  = "csv"
	JSON = "json"
)

// column is one of a table: numbers stand to the right in their width, other texts to the left in a negative one; 0: as
// wide as they are.
type column struct {
	name  string
	width int
}

var (
	countColumns  = []column{{"urls", 8}, {"bytes", 14}}
	reasonColumns = []column{{"urls", 8}, {"verdict", -9}, {"reason", -22}, {"example", 0}}
	seedColumns   = []column{{"code", 4}, {"status", -11}, {"verdict", -8}, {"reason", -18}, {"seed", -40},
		{"redirect", 0}}
)

// row is a line of a table.
type row interface{ cells() []string }

// table is a report: its columns, how many rows it has, and what hands out the first top of them; 0: all.
type table struct {
	columns []column
	n       int64
	each    func(top int, use func(row) error) error
}

func (t *Tables) table(name string) (table, error) {
	switch name {
	case Hosts:
		return table{hostColumns, t.hostRows, t.eachHost}, nil
	case MIME:
		return list(append(countColumns[:2:2], column{"media type", 0}), t.mime.sorted()), nil
	case Status:
		return list(append(countColumns[:2:2], column{"status", 0}), t.status.sorted()), nil
	case Seeds:
		return list(seedColumns, t.seeds.sorted()), nil
	case Reasons:
		return list(reasonColumns, t.reasons.sorted()), nil
	}
	return table{}, fmt.Errorf("there are %s", strings.Join(Names(), ", "))
}

func list[R row](columns []column, rows []R) table {
	return table{columns, int64(len(rows)), func(top int, use func(row) error) error {
		if top > 0 {
			rows = rows[:min(top, len(rows))]
		}
		for _, r := range rows {
			if err := use(r); err != nil {
				return err
			}
		}
		return nil
	}}
}

var errTop = errors.New("that many are wanted")

func (t *Tables) eachHost(top int, use func(row) error) error {
	n := 0
	err := t.hosts.each(func(data []byte) error {
		if n++; top > 0 && n > top {
			return errTop
		}
		h := &Host{}
		if err := h.fromRow(data); err != nil {
			return err
		}
		return use(h)
	})
	if errors.Is(err, errTop) {
		return nil
	}
	return err
}

// Write writes reports, each with at most top rows; 0: all. Reports of CSV stand behind each other with an empty line
// between them; of JSON there is one object with a list for each. It can be called once.
func (t *Tables) Write(out io.Writer, format string, top int, names ...string) error {
	w := bufio.NewWriterSize(out, 64<<10)
	write := map[string]func(*bufio.Writer, string, table, int) error{Text: writeText, CSV: writeCSV,
		JSON: writeJSON}[format]
	if write == nil {
		return fmt.Errorf("format %q: there are %s", format, strings.Join(Formats(), ", "))
	}
	for i, name := range names {
		switch {
		case format == JSON && i == 0:
			_, _ = w.WriteString("{")
		case format == JSON:
			_, _ = w.WriteString(",")
		case i > 0:
			_ = w.WriteByte('\n')
		}
		tab, err := t.table(name)
		if err == nil {
			err = write(w, name, tab, top)
		}
		if err != nil {
			return fmt.Errorf("report %s: %w", name, err)
		}
	}
	if format == JSON {
		_, _ = w.WriteString("}\n")
	}
	return w.Flush()
}

func writeText(w *bufio.Writer, name string, t table, top int) error {
	columns := t.columns
	fmt.Fprintf(w, "# %s: %d\n", name, t.n)
	line := func(cells []string) {
		var text strings.Builder
		for i, c := range columns {
			fmt.Fprintf(&text, "%*s  ", c.width, visible(cells[i], i < len(columns)-1))
		}
		_, _ = w.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	line(titles(columns))
	return t.each(top, func(r row) error { line(r.cells()); return nil })
}

// visible is a text that strangers wrote, without control characters; an empty one that others follow is a dash.
func visible(s string, dash bool) string {
	if s == "" && dash {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

func titles(columns []column) []string {
	out := make([]string, len(columns))
	for i := range columns {
		out[i] = columns[i].name
	}
	return out
}

func writeCSV(w *bufio.Writer, _ string, t table, top int) error {
	out := csv.NewWriter(w)
	if err := out.Write(titles(t.columns)); err != nil {
		return err
	}
	err := t.each(top, func(r row) error {
		cells := r.cells()
		for i, c := range cells {
			if c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) { // a spreadsheet would run it
				cells[i] = "'" + c
			}
		}
		return out.Write(cells)
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

func writeJSON(w *bufio.Writer, name string, t table, top int) error {
	fmt.Fprintf(w, "%q:[", name)
	first := true
	err := t.each(top, func(r row) error {
		data, err := json.Marshal(r)
		if !first {
			_ = w.WriteByte(',')
		}
		first = false
		_, _ = w.Write(data)
		return err
	})
	_ = w.WriteByte(']')
	return err
}
