// Package urltool is the URL package as a filter for the command line, so that other programs and test suites can ask
// what the crawler makes of a URL.
//
// Its duties: read one question a line, write one answer a line, in the same order. It must never lose a line: an
// input that is no URL has an answer too, and answers before a broken line are written before the error is returned.
package urltool

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxLine bounds a line, in bytes: the longest input of weburl with every byte escaped as \uXXXX, and room for a base.
const maxLine = 16 * weburl.MaxInput

// question is one line of RunURL's input. Unpaired surrogates in its strings are read as U+FFFD, as a browser converts
// a string before it parses.
type question struct {
	Input *string `json:"input"`
	Base  string  `json:"base"`
}

type answer struct {
	Href    string `json:"href,omitempty"`
	Failure bool   `json:"failure,omitempty"`
}

// RunURL reads JSON lines {"input":"…","base":"…"} and prints for each {"href":"…"} or {"failure":true}, by the URL
// Standard and for any scheme. A base that is null, absent or empty is none; other members and blank lines are ignored.
// A line that is no such object is an error that names its number, counted from 1.
func RunURL(r io.Reader, w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return filter(r, out, func(line []byte) error {
		if len(line) == 0 {
			return nil
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		if q.Input == nil {
			return errors.New(`no "input"`)
		}
		href, err := weburl.ParseAny(*q.Input, q.Base)
		return enc.Encode(answer{Href: href, Failure: err != nil})
	})
}

// RunCanon reads one URL a line and prints its canonical form by the default rules. A line that is no URL the crawler
// would fetch is answered with "! " and the reason, so that line numbers stay equal.
func RunCanon(r io.Reader, w io.Writer) error {
	out := bufio.NewWriter(w)
	cfg := weburl.DefaultCanonical()
	canon := weburl.NewCanonicalizer(cfg)
	return filter(r, out, func(line []byte) error {
		text := canonical(canon, string(line), cfg.MaxLength)
		_, err := fmt.Fprintln(out, text)
		return err
	})
}

func canonical(canon *weburl.Canonicalizer, raw string, limit int) string {
	u, err := weburl.Parse(raw)
	if err != nil {
		var e *weburl.Error
		if errors.As(err, &e) {
			err = e.Err // without the input, which may hold anything
		}
		return "! " + err.Error()
	}
	if u = canon.Canonical(u); u.IsZero() {
		return fmt.Sprintf("! longer than %d bytes", limit)
	}
	return u.String()
}

// filter calls each with every line and flushes out at the end, whatever the end is.
func filter(r io.Reader, out *bufio.Writer, each func(line []byte) error) error {
	lines := bufio.NewScanner(flushingReader{r, out})
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	n, err := 0, error(nil)
	for err == nil && lines.Scan() {
		n++
		if e := each(lines.Bytes()); e != nil {
			err = fmt.Errorf("line %d: %w", n, e)
		}
	}
	if e := lines.Err(); e != nil && err == nil {
		err = fmt.Errorf("line %d: %w", n+1, e)
	}
	if e := out.Flush(); e != nil && err == nil {
		err = fmt.Errorf("write answers: %w", e)
	}
	return err
}

// flushingReader writes the answers so far before it waits for more questions, so that a program can converse with us.
type flushingReader struct {
	io.Reader
	out *bufio.Writer
}

func (r flushingReader) Read(p []byte) (int, error) {
	if err := r.out.Flush(); err != nil {
		return 0, fmt.Errorf("write answers: %w", err)
	}
	return r.Reader.Read(p)
}
