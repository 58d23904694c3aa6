package peerbench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/experiment"
)

// keep writes the rows as a CSV file and a picture into the directory of the pictures, if there is one.
func (c Config) keep(name, about string, rows []Row) error {
	if c.Pictures == "" {
		return nil
	}
	t := drawn(name, about, rows)
	var data bytes.Buffer
	if err := t.WriteCSV(&data); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Pictures, 0o755); err != nil {
		return fmt.Errorf("pictures: %w", err)
	}
	base := filepath.Join(c.Pictures, name)
	return errors.Join(os.WriteFile(base+".csv", data.Bytes(), 0o644), //nolint:gosec // figures for everybody
		os.WriteFile(base+".svg", t.Picture(), 0o644)) //nolint:gosec // the same
}

// drawn is the table of the rows; the CPU time a page is its main figure.
func drawn(name, about string, rows []Row) experiment.Table {
	t := experiment.Table{Name: name, Label: "crawler", Title: about, Columns: []experiment.Column{
		{Name: "CPU time a page", Unit: "ms", Digits: 2, Drawn: true}, {Name: "pages a second", Digits: 0, Drawn: true},
		{Name: "pages missed", Drawn: true}, {Name: "pages fetched again", Drawn: true},
		{Name: "resident memory", Unit: "MB", Digits: 0, Drawn: true}, {Name: "pages"},
		{Name: "requests that robots.txt forbids"}, {Name: "requests a host at once, most"}}}
	for i := range rows {
		r := &rows[i]
		pages := float64(max(r.Pages, 1))
		t.Add(r.Name, r.CPU.Seconds()*1000/pages, r.rate(), float64(r.Missed), float64(r.Again), float64(r.RSS)/1e6,
			float64(r.Pages), float64(r.Forbidden), float64(r.AtOnce))
	}
	return t
}
