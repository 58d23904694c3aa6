package export_test

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

type parquetLink struct {
	URL    string `parquet:"url"`
	Rel    string `parquet:"rel"`
	Text   string `parquet:"text"`
	Weight int64  `parquet:"weight"`
}

// parquetPage is what a reader of the file would write by hand.
type parquetPage struct {
	URL       string        `parquet:"url"`
	Status    int64         `parquet:"status"`
	FetchedAt int64         `parquet:"fetched_at,timestamp(millisecond)"`
	Bytes     int64         `parquet:"bytes"`
	Title     string        `parquet:"title"`
	Text      string        `parquet:"text"`
	Links     []parquetLink `parquet:"links,list"`
	Fields    string        `parquet:"fields,json"`
	Cut       []string      `parquet:"cut,list"`
	Published *int64        `parquet:"published,optional,timestamp(millisecond)"`
	Author    string        `parquet:"author"`
	Insecure  bool          `parquet:"insecure"`
	Price     *string       `parquet:"field.price,optional"`
	Evil      *string       `parquet:"field.evil,optional"`
}

func TestParquetIsReadBack(t *testing.T) {
	file := run(t, lines(t), export.Options{Format: export.Parquet, Fields: []string{"price", "evil"}})
	got, err := parquet.Read[parquetPage](strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	price, evil, published := "-1.5", "=1+1", records(t)[0].Published.UnixMilli()
	want := []parquetPage{{
		URL: "https://a.test/x;y?q=1,2", Status: 200, FetchedAt: records(t)[0].FetchedAt.UnixMilli(), Bytes: 123,
		Title: "A \"B\", C", Text: "one\ntwo; three",
		Links:  []parquetLink{{"https://a.test/copy", "next", "copy", 3}, {"mailto:x", "", "", 0}},
		Fields: `{"price":-1.5,"tags":["x",2],"evil":"=1+1"}`, Cut: []string{"text", "links"}, Price: &price, Evil: &evil,
		Published: &published, Author: "Ann", Insecure: true,
	}, {
		URL: "https://a.test/copy", Status: 200, FetchedAt: records(t)[1].FetchedAt.UnixMilli(), Fields: "{}",
		Links: []parquetLink{}, Cut: []string{},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParquetColumnsKeepTheirOrder(t *testing.T) {
	file := run(t, lines(t), export.Options{Format: export.Parquet, Columns: []string{"url", "text", "links", "bytes"},
		Fields: []string{"a, b", "é\"`"}})
	f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, field := range f.Schema().Fields() {
		got = append(got, field.Name())
	}
	if want := []string{"url", "text", "links", "bytes", "field.a, b", "field.é\"`"}; !reflect.DeepEqual(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
}

func TestParquetWithoutRowsIsAFile(t *testing.T) {
	file := run(t, nil, export.Options{Format: export.Parquet})
	if rows, err := parquet.Read[parquetPage](strings.NewReader(file), int64(len(file))); err != nil || len(rows) != 0 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// repeated reads the same lines n times: a file larger than memory should be.
func repeated(b []byte, n int) io.Reader {
	readers := make([]io.Reader, n)
	for i := range readers {
		readers[i] = bytes.NewReader(b)
	}
	return io.MultiReader(readers...)
}

func TestParquetRowGroupsAreBounded(t *testing.T) {
	r := records(t)[0]
	r.Text = strings.Repeat("some text ", 100_000)
	var out bytes.Buffer
	n, err := export.Run(t.Context(), repeated(jsonl.AppendRecord(nil, r), 40), &out,
		export.Options{Format: export.Parquet})
	if err != nil || n != 40 {
		t.Fatal(n, err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if groups := f.RowGroups(); len(groups) != 2 || groups[0].NumRows() != 34 {
		t.Errorf("%d row groups, the first with %d rows", len(groups), groups[0].NumRows())
	}
}

func FuzzRun(f *testing.F) {
	f.Add(lines(f))
	f.Add([]byte(`{"url":"http://a.test/","fields":{"a":{"b":[]},"b":"x"},"links":[{}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		rows := map[int64]bool{}
		for _, format := range []export.Format{export.CSV, export.JSONL, export.Parquet} {
			opt := export.Options{Format: format, Columns: export.Columns(), Fields: []string{"a", "b"}}
			n, err := export.Run(t.Context(), bytes.NewReader(in), io.Discard, opt)
			if err == nil {
				rows[n] = true
			} else {
				rows[-1] = true
			}
		}
		if len(rows) != 1 {
			t.Errorf("formats disagree: %v", rows)
		}
	})
}

func BenchmarkRun(b *testing.B) {
	r := records(b)[0]
	r.Text = strings.Repeat("The crawler walks the web, one page at a time. ", 170)
	for i := range 60 {
		r.Links = append(r.Links, crawl.Link{URL: mustURL(b, fmt.Sprintf("https://a.test/articles/2026/%d", i)),
			Text: "An article"})
	}
	line := jsonl.AppendRecord(nil, r)
	for _, format := range []export.Format{export.CSV, export.JSONL, export.Parquet} {
		b.Run(string(format), func(b *testing.B) {
			const n = 200
			b.SetBytes(int64(n * len(line)))
			for b.Loop() {
				if _, err := export.Run(b.Context(), repeated(line, n), io.Discard, export.Options{Format: format}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
