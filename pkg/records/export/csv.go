package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

type csvSink struct {
	w       *csv.Writer
	out     io.Writer
	columns []column
	raw     bool
	row     []string
}

func newCSV(out io.Writer, columns []column, opt Options) (sink, error) {
	s := &csvSink{w: csv.NewWriter(out), out: out, columns: columns, raw: opt.RawText, row: make([]string, len(columns))}
	for i := range columns {
		s.row[i] = s.safe(columns[i].name)
	}
	return s, s.w.Write(s.row)
}

func (s *csvSink) write(_ []byte, r *crawl.Record) error {
	for i := range s.columns {
		s.row[i] = s.cell(&s.columns[i], r)
	}
	if len(s.row) == 1 && s.row[0] == "" {
		return s.emptyCell()
	}
	return s.w.Write(s.row)
}

// emptyCell writes a row of one empty cell. csv.Writer makes it a blank line, which readers pass over.
func (s *csvSink) emptyCell() error {
	if err := s.close(); err != nil {
		return err
	}
	_, err := io.WriteString(s.out, "\"\"\n")
	return err
}

func (s *csvSink) close() error {
	s.w.Flush()
	return s.w.Error()
}

func (s *csvSink) cell(c *column, r *crawl.Record) string {
	switch v := c.value(r); c.kind {
	case integer:
		return strconv.FormatInt(v.(int64), 10)
	case truth:
		return strconv.FormatBool(v.(bool))
	case timestamp:
		return formatTime(v.(int64))
	case date:
		if v == nil {
			return ""
		}
		return formatTime(v.(int64))
	case number:
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(v.(float64), 'g', -1, 64)
	case textList:
		return s.safe(strings.Join(v.([]string), listSeparator))
	case linkList:
		return s.safe(joinLinks(v.([]crawl.Link)))
	case field:
		cell, guard := cellText(v)
		if !guard {
			return cell
		}
		return s.safe(cell)
	default:
		return s.safe(v.(string))
	}
}

func joinLinks(links []crawl.Link) string {
	parts := make([]string, len(links))
	for i := range links {
		parts[i] = linkText(&links[i])
	}
	return strings.Join(parts, listSeparator)
}

// safe keeps a spreadsheet from taking text for a formula.
func (s *csvSink) safe(cell string) string {
	if s.raw || cell == "" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return cell
	}
	return "'" + cell
}
