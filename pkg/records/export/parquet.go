package export

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// rowGroupBytes bounds what is held in memory before it is written: the lines' bytes, about those of their values.
const rowGroupBytes = 32 << 20

type parquetSink struct {
	w       *parquet.GenericWriter[any]
	columns []column
	types   map[string]Type
	row     parquet.Row
	held    int
}

func newParquet(out io.Writer, columns []column, opt Options) (sink, error) {
	schema := parquet.NewSchema("page", newGroup(columns, opt.Types))
	return &parquetSink{
		w: parquet.NewGenericWriter[any](out, schema, parquet.Compression(&parquet.Zstd),
			parquet.CreatedBy("Whirlpool", crawl.Version, "")),
		columns: columns, types: opt.Types,
	}, nil
}

func (s *parquetSink) write(line []byte, r *crawl.Record) error {
	s.row = s.row[:0]
	leaf := 0
	for i := range s.columns {
		var err error
		if leaf, err = s.appendColumn(&s.columns[i], r, leaf); err != nil {
			return err
		}
	}
	if _, err := s.w.WriteRows([]parquet.Row{s.row}); err != nil {
		return err
	}
	if s.held += len(line); s.held < rowGroupBytes {
		return nil
	}
	s.held = 0
	return s.w.Flush()
}

func (s *parquetSink) close() error { return s.w.Close() }

// appendColumn appends the values of a column whose first leaf has the index leaf, and returns that of the next column.
func (s *parquetSink) appendColumn(c *column, r *crawl.Record, leaf int) (int, error) {
	switch v := c.value(r); c.kind {
	case integer, timestamp:
		s.row = append(s.row, parquet.Int64Value(v.(int64)).Level(0, 0, leaf))
	case truth:
		s.row = append(s.row, parquet.BooleanValue(v.(bool)).Level(0, 0, leaf))
	case date:
		s.row = append(s.row, optional(v != nil, leaf, func() parquet.Value { return parquet.Int64Value(v.(int64)) }))
	case number:
		s.row = append(s.row, optional(v != nil, leaf, func() parquet.Value { return parquet.DoubleValue(v.(float64)) }))
	case optionalJSON:
		s.row = append(s.row, optional(v != "", leaf, func() parquet.Value { return textValue(v.(string)) }))
	case textList:
		s.appendList(len(v.([]string)), leaf, func(i int) parquet.Value { return textValue(v.([]string)[i]) })
	case linkList:
		return s.appendLinks(v.([]crawl.Link), leaf), nil
	case field:
		if err := s.appendField(c, v, leaf); err != nil {
			return leaf, err
		}
	default:
		s.row = append(s.row, textValue(v.(string)).Level(0, 0, leaf))
	}
	return leaf + 1, nil
}

// optional is a value, or null.
func optional(there bool, leaf int, value func() parquet.Value) parquet.Value {
	if !there {
		return parquet.NullValue().Level(0, 0, leaf)
	}
	return value().Level(0, 1, leaf)
}

func textValue(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }

// appendList appends n values of a list. Levels as in the Dremel paper: an empty list is one null of definition level
// 0, and all items but the first repeat level 1.
func (s *parquetSink) appendList(n, leaf int, item func(i int) parquet.Value) {
	if n == 0 {
		s.row = append(s.row, parquet.NullValue().Level(0, 0, leaf))
	}
	for i := range n {
		s.row = append(s.row, item(i).Level(min(i, 1), 1, leaf))
	}
}

// appendLinks appends the leaves of the links' structs, in the order of linkNode.
func (s *parquetSink) appendLinks(links []crawl.Link, leaf int) int {
	for _, value := range []func(i int) parquet.Value{
		func(i int) parquet.Value { return textValue(linkText(&links[i])) },
		func(i int) parquet.Value { return textValue(links[i].Rel) },
		func(i int) parquet.Value { return textValue(links[i].Text) },
		func(i int) parquet.Value { return parquet.Int64Value(int64(links[i].Weight)) },
	} {
		s.appendList(len(links), leaf, value)
		leaf++
	}
	return leaf
}
