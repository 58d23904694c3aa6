package wacz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// cdx is the JSON of a line of the index (CDXJ). Numbers are texts there.
type cdx struct {
	URL      string `json:"url"`
	Mime     string `json:"mime"`
	Status   string `json:"status"`
	Digest   string `json:"digest,omitempty"`
	Length   string `json:"length"`
	Offset   string `json:"offset"`
	Filename string `json:"filename"`
}

const timeFormat = "20060102150405"

// cdxLine is the line of a capture in a file of the package.
func cdxLine(c *warc.Capture, filename string) (string, error) {
	mime := c.MediaType()
	if c.Type == "revisit" {
		mime = "warc/revisit"
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(cdx{URL: c.URL, Mime: mime, Status: strconv.Itoa(c.Status), Digest: c.Digest,
		Length: strconv.FormatInt(c.Length, 10), Offset: strconv.FormatInt(c.Offset, 10), Filename: filename})
	return fmt.Sprintf("%s %s %s", surt(c.URL), c.Date.UTC().Format(timeFormat), strings.TrimSuffix(b.String(), "\n")), err
}

// blockLines is how many lines a member of the index has; readers load a member at a time.
const blockLines = 3_000

// cdxWriter writes the index and the table of its members.
type cdxWriter struct {
	out   *entryWriter // indexes/index.cdx.gz
	table bytes.Buffer // indexes/index.idx
	block []byte
	lines int
	first string // key and time of the block's first line
	at    int64
}

const tableHead = `!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}` + "\n"

func newCDXWriter(out *entryWriter) *cdxWriter {
	w := &cdxWriter{out: out}
	w.table.WriteString(tableHead)
	return w
}

func (w *cdxWriter) add(line string) error {
	if w.lines == 0 {
		w.first, _, _ = strings.Cut(line, " {")
	}
	w.block = append(append(w.block, line...), '\n')
	if w.lines++; w.lines < blockLines {
		return nil
	}
	return w.flush()
}

// flush writes the block as a gzip member.
func (w *cdxWriter) flush() error {
	if w.lines == 0 {
		return nil
	}
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	_, _ = gz.Write(w.block) // Close tells
	if err := gz.Close(); err != nil {
		return err
	}
	fmt.Fprintf(&w.table, "%s {\"offset\": %d, \"length\": %d}\n", w.first, w.at, b.Len())
	w.at += int64(b.Len())
	w.block, w.lines = w.block[:0], 0
	_, err := w.out.Write(b.Bytes())
	return err
}
