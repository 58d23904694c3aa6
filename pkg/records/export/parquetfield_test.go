package export_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// typedPage is what a reader of the file would write by hand.
type typedPage struct {
	Price *float64    `parquet:"field.price,optional"`
	Stock *int64      `parquet:"field.stock,optional"`
	New   *bool       `parquet:"field.new,optional"`
	Date  *time.Time  `parquet:"field.date,optional,timestamp(millisecond)"`
	Sizes []float64   `parquet:"field.sizes,optional,list"`
	Dates []time.Time `parquet:"field.dates,optional,list"`
	Mixed *string     `parquet:"field.mixed,optional"`
	Found *string     `parquet:"field.found,optional,json"`
}

func typedRules() []crawl.SiteRule {
	field := func(name, kind string, list bool) crawl.FieldRule {
		return crawl.FieldRule{Name: name, Type: kind, List: list}
	}
	return []crawl.SiteRule{{Fields: []crawl.FieldRule{field("price", "number", false), field("stock", "integer", false),
		field("new", "bool", false), field("date", "date", false), field("sizes", "number", true),
		field("dates", "date", true), field("mixed", "number", false)}}}
}

func typedLines(tb testing.TB) []byte {
	tb.Helper()
	fields := [][]crawl.Field{
		{{Name: "price", Value: 19.5}, {Name: "stock", Value: 3.0}, {Name: "new", Value: true},
			{Name: "date", Value: "2026-01-02T03:04:05+01:00"}, {Name: "sizes", Value: []any{1.0, 2.5}},
			{Name: "dates", Value: []any{"2026-01-02T00:00:00Z"}}, {Name: "mixed", Value: 1.0},
			{Name: "found", Value: []any{map[string]any{"title": "=x", "pay": 2.5}, map[string]any{"tags": []any{"a"}}}}},
		{{Name: "sizes", Value: []any{}}, {Name: "mixed", Value: []any{"a", 1.0}}},
		{},
	}
	var b []byte
	for _, f := range fields {
		b = jsonl.AppendRecord(b, &crawl.Record{URL: mustURL(tb, "http://a.test/"), Fields: f})
	}
	return b
}

func TestParquetFieldsHaveTypes(t *testing.T) {
	in := typedLines(t)
	types, err := export.FieldTypes(t.Context(), bytes.NewReader(in), typedRules())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"price", "stock", "new", "date", "sizes", "dates", "mixed", "found"}
	file := run(t, in, export.Options{Format: export.Parquet, Columns: []string{"url"}, Fields: names, Types: types})
	got, err := parquet.Read[typedPage](strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	price, stock, isNew, one, list := 19.5, int64(3), true, "1", `["a",1]`
	found := `[{"pay":2.5,"title":"=x"},{"tags":["a"]}]`
	date := time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC)
	want := []typedPage{
		{&price, &stock, &isNew, &date, []float64{1, 2.5}, []time.Time{time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}, &one,
			&found},
		{Sizes: []float64{}, Mixed: &list}, {},
	}
	for i := range got {
		// null and empty are told apart by the levels, not by this reader
		got[i].Sizes = append([]float64(nil), got[i].Sizes...)
		want[i].Sizes = append([]float64(nil), want[i].Sizes...)
		got[i].Dates = append([]time.Time(nil), got[i].Dates...)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"optional double field.price;", "optional int64 field.stock",
		"optional boolean field.new;", "optional int64 field.date (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS));",
		"optional group field.sizes (LIST)", "optional binary field.mixed (STRING);", "optional binary field.found (JSON);"} {
		if !strings.Contains(f.Schema().String(), line) {
			t.Errorf("the schema has no %q:\n%s", line, f.Schema())
		}
	}
}

func TestValuesThatChangeTheirTypesMeanwhileAreRefused(t *testing.T) {
	types := map[string]export.Type{"mixed": {Base: export.NumberType}}
	var out bytes.Buffer
	_, err := export.Run(t.Context(), bytes.NewReader(typedLines(t)), &out,
		export.Options{Format: export.Parquet, Fields: []string{"mixed"}, Types: types})
	if err == nil || !strings.Contains(err.Error(), "field.mixed") ||
		!strings.Contains(err.Error(), "give the command again") {
		t.Errorf("error %v", err)
	}
}
