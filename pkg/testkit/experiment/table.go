package experiment

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table is what an experiment found.
type Table struct {
	Name    string // of its files: a-z and hyphens
	Title   string
	Label   string // what a row is
	Columns []Column
	Rows    []Row
	Notes   []string // lines below it
}

// Column is a figure of each row.
type Column struct {
	Name, Unit string
	Digits     int // after the point
	Drawn      bool
}

// Row is a line of a table: a figure a column.
type Row struct {
	Label  string
	Values []float64
}

// Add appends a row.
func (t *Table) Add(label string, values ...float64) {
	t.Rows = append(t.Rows, Row{Label: label, Values: values})
}

func (c *Column) heading() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + ", " + c.Unit
}

func (c *Column) cell(v float64) string { return strconv.FormatFloat(v, 'f', c.Digits, 64) }

// Print writes the table as text.
func (t *Table) Print(w io.Writer) error {
	lines := make([][]string, 1, 1+len(t.Rows))
	lines[0] = append(lines[0], t.Label)
	for i := range t.Columns {
		lines[0] = append(lines[0], t.Columns[i].heading())
	}
	for _, r := range t.Rows {
		lines = append(lines, t.cells(r))
	}
	widths := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, cell := range l {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	b.WriteString("\n" + t.Title + "\n")
	for _, l := range lines {
		for i, cell := range l {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + space)
			} else {
				b.WriteString("  " + space + cell)
			}
		}
		b.WriteString("\n")
	}
	for _, n := range t.Notes {
		b.WriteString(n + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) cells(r Row) []string {
	cells := []string{r.Label}
	for i := range t.Columns {
		cells = append(cells, t.Columns[i].cell(r.Values[i]))
	}
	return cells
}

// WriteCSV writes the table as CSV (RFC 4180), with a line of headings.
func (t *Table) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{t.Label}
	for i := range t.Columns {
		head = append(head, t.Columns[i].heading())
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, r := range t.Rows {
		if err := out.Write(t.cells(r)); err != nil {
			return fmt.Errorf("row %s: %w", r.Label, err)
		}
	}
	out.Flush()
	return out.Error()
}
