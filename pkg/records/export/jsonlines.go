package export

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

type jsonlSink struct {
	w    *bufio.Writer
	keys []jsonKey
}

// jsonKey is a column, with its name as it is in the output.
type jsonKey struct {
	name, field string // field: of the site rule; "" for a key of the record
	quoted      []byte
}

func newJSONL(out io.Writer, columns []column, _ Options) (sink, error) {
	s := &jsonlSink{w: bufio.NewWriterSize(out, 64<<10)}
	for i := range columns {
		k := jsonKey{name: columns[i].name, field: columns[i].fieldName()}
		k.quoted, _ = json.Marshal(k.name) // a string always can be
		s.keys = append(s.keys, k)
	}
	return s, nil
}

// write passes values on as they are in the line: nothing is lost to a conversion.
func (s *jsonlSink) write(line []byte, _ *crawl.Record) error {
	if len(s.keys) > 0 {
		var err error
		if line, err = s.pick(line); err != nil {
			return err
		}
	}
	_, _ = s.w.Write(line)
	return s.w.WriteByte('\n') // a bufio.Writer's error stays
}

func (s *jsonlSink) pick(line []byte) ([]byte, error) {
	var record, fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &record); err != nil {
		return nil, err
	}
	if raw, ok := record["fields"]; ok {
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, err
		}
	}
	out := []byte{'{'}
	for i, k := range s.keys {
		value := record[k.name]
		if k.field != "" {
			value = fields[k.field]
		}
		if value == nil {
			value = json.RawMessage("null")
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, k.quoted...), ':'), value...)
	}
	return append(out, '}'), nil
}

func (s *jsonlSink) close() error { return s.w.Flush() }
