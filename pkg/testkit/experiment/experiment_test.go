package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// column finds a figure by the heading's start.
func column(t *testing.T, table *Table, row int, heading string) float64 {
	t.Helper()
	for i := range table.Columns {
		if strings.HasPrefix(table.Columns[i].heading(), heading) {
			return table.Rows[row].Values[i]
		}
	}
	t.Fatalf("%s has no column %q", table.Title, heading)
	return 0
}

// wellFormed fails unless the table can be printed, its CSV read, and its picture parsed, with a bar a row and panel.
func wellFormed(t *testing.T, table *Table) {
	t.Helper()
	var text, data bytes.Buffer
	if err := errors.Join(table.Print(&text), table.WriteCSV(&data)); err != nil {
		t.Fatal(err)
	}
	t.Log(text.String())
	lines, err := csv.NewReader(&data).ReadAll()
	if err != nil || len(lines) != 1+len(table.Rows) {
		t.Errorf("%s: %d lines of CSV, error %v", table.Name, len(lines), err)
	}
	want, bars := 0, 0
	for i := range table.Columns {
		if table.Columns[i].Drawn {
			want += len(table.Rows)
		}
	}
	for d := xml.NewDecoder(bytes.NewReader(table.Picture())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", table.Name, err)
		}
		if s, ok := token.(xml.StartElement); ok && s.Name.Local == "rect" {
			bars++
		}
	}
	if bars != want || want == 0 {
		t.Errorf("%s: %d bars, want %d", table.Name, bars, want)
	}
}

func TestTheCacheSparesLookups(t *testing.T) {
	tables, err := DNS{Hosts: 5, Requests: 60, AtOnce: 4, Delay: 10 * time.Millisecond}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := &tables[0]
	wellFormed(t, table)
	// Each look-up asks for A and AAAA.
	if off, on := column(t, table, 0, "name server asked"), column(t, table, 1, "name server asked"); off < 60 || on > 20 {
		t.Errorf("asked %v times without the cache, %v with it", off, on)
	}
	if off, on := column(t, table, 0, "look-up, median"), column(t, table, 1, "look-up, median"); off <= on {
		t.Errorf("a look-up took %v ms without the cache, %v with it", off, on)
	}
}

func TestNearDuplicatesAreTold(t *testing.T) {
	tables := NearDup{Texts: 40, Changed: .01}.Run()
	for i := range tables {
		wellFormed(t, &tables[i])
	}
	pairs, by := &tables[0], &tables[1]
	last := len(pairs.Rows) - 1
	if near, far := column(t, pairs, 0, "Hamming distance, ours"),
		column(t, pairs, last, "Hamming distance, ours"); near > 3 || far < 15 {
		t.Errorf("copies are %v bits away, distinct texts %v", near, far)
	}
	for row := range by.Rows {
		if row > 0 && column(t, by, row, "recall, ours") < column(t, by, row-1, "recall, ours") {
			t.Errorf("at %s the recall falls", by.Rows[row].Label)
		}
	}
	if got := column(t, by, maxThreshold, "recall, ours"); got < .9 {
		t.Errorf("recall %v at %d bits", got, maxThreshold)
	}
}

func TestAChangeMovesItsShareOnly(t *testing.T) {
	tables, err := Rebalance{Nodes: 3, Hosts: 20_000, PerSet: 64}.Run()
	if err != nil {
		t.Fatal(err)
	}
	table := &tables[0]
	wellFormed(t, table)
	for row := range table.Rows {
		moved, must := column(t, table, row, "hosts moved"), column(t, table, row, "least")
		if moved > 1.2*must || row > 0 && moved < .8*must || column(t, table, row, "moved between") != 0 {
			t.Errorf("%s: moved %v %%, must move %v %%", table.Rows[row].Label, moved, must)
		}
	}
}

func TestTicksAreFew(t *testing.T) {
	for _, most := range []float64{0, 1e-6, .3, 1, 9.99, 10, 4711, 1e12} {
		if n := most / tick(most); n > 5.001 {
			t.Errorf("%v has %v marks", most, n)
		}
	}
}
