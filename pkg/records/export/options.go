package export

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Options say what Run writes. The zero value but for Format writes everything.
type Options struct {
	Format Format
	// Columns in their order; see Columns for the names. Empty: the whole line for JSON Lines, every column for
	// Parquet, and every column but the lists for CSV.
	Columns []string
	// Fields adds a column field.NAME for each name; in CSV they replace the default column fields.
	Fields []string
	// Types are those of fields, for formats that have types; a field that is not named is text. See FieldTypes.
	Types map[string]Type
	// Keep says which records are written; nil: all. See Originals.
	Keep func(*crawl.Record) bool
	// RawText writes text into CSV cells as it is, even where a spreadsheet would run it.
	RawText bool
}

// Originals is an Options.Keep that leaves out copies.
func Originals(r *crawl.Record) bool { return r.DuplicateOf.IsZero() }

// Validate reports everything that is wrong with the options, a line each.
func (o Options) Validate() error {
	var errs []error
	if err := o.Format.check(); err != nil {
		errs = append(errs, err)
	}
	seen := map[string]bool{}
	for _, name := range o.columnNames() {
		if _, err := columnNamed(name); err != nil {
			errs = append(errs, err)
		}
		if seen[name] {
			errs = append(errs, fmt.Errorf("column %q stands twice", name))
		}
		seen[name] = true
	}
	return errors.Join(errs...)
}

// columnNames are the names of the columns that were asked for; none: whole lines.
func (o Options) columnNames() []string {
	names := slices.Clone(o.Columns)
	if len(names) == 0 {
		names = o.defaultColumns()
	}
	for _, f := range o.Fields {
		names = append(names, fieldPrefix+f)
	}
	return names
}

func (o Options) defaultColumns() (names []string) {
	if o.Format.Whole() && len(o.Fields) == 0 {
		return nil
	}
	flat := o.Format.row().flat
	for i := range columns {
		c := &columns[i]
		if flat && (c.kind == linkList || c.kind == textList || c.name == "fields" && len(o.Fields) > 0) {
			continue
		}
		names = append(names, c.name)
	}
	return names
}

// columns resolves the names of valid options.
func (o Options) columns() ([]column, error) {
	var list []column
	for _, name := range o.columnNames() {
		c, err := columnNamed(name)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

const fieldPrefix = "field."

// fieldPath is the other name of a field's column: where the field is in a record.
const fieldPath = "fields."

func columnNamed(name string) (column, error) {
	for _, prefix := range []string{fieldPrefix, fieldPath} {
		if field, ok := strings.CutPrefix(name, prefix); ok && field != "" {
			return fieldColumn(name, field), nil
		}
	}
	for i := range columns {
		if columns[i].name == name {
			return columns[i], nil
		}
	}
	return column{}, fmt.Errorf("column %q is unknown; there are %s, and field.NAME", name, strings.Join(Columns(), ", "))
}
