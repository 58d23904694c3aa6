package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// screen is where people watch: a terminal, on which the last line renews itself, or a file. It may be used by many
// goroutines.
type screen struct {
	w     io.Writer
	live  bool       // it is a terminal that understands escape sequences
	width func() int // columns at the moment; 0: unknown

	mu    sync.Mutex
	dirty bool // the last line is to be renewed
}

func newScreen(w io.Writer) *screen {
	s := &screen{w: w, width: func() int { return 0 }}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" {
		s.live = true
		s.width = func() int {
			columns, _, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 0
			}
			return columns
		}
	}
	return s
}

// usualWidth is that of a terminal that does not tell.
const usualWidth = 80

// renew replaces the last line shown. The last column stays free: a character there makes some terminals wrap.
func (s *screen) renew(line func(columns int) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	columns := s.width()
	if columns <= 0 {
		columns = usualWidth
	}
	s.dirty = true
	// Without wrapping, a line does not scroll even where the terminal became narrower a moment ago.
	fmt.Fprint(s.w, "\r\x1b[K\x1b[?7l"+cutColumns(line(columns-1), columns-1)+"\x1b[?7h")
}

// Write implements io.Writer: what is written is above the line that renews itself.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirty {
		s.dirty = false
		fmt.Fprint(s.w, "\r\x1b[K")
	}
	return s.w.Write(p)
}

// clear takes the line that renews itself away.
func (s *screen) clear() { _, _ = s.Write(nil) }

// cutColumns cuts a line to so many columns, and makes control characters visible.
func cutColumns(line string, columns int) string {
	var b strings.Builder
	for _, r := range line {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			r = '?'
		}
		if columns -= columnsOf(r); columns < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// columnsOf is how many columns a character takes at most.
func columnsOf(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth, width.EastAsianAmbiguous:
		return 2
	}
	return 1
}

// part is a piece of a line; those with a high rank are left out first.
type part struct {
	rank int
	text string
}

// fit joins the parts that have room.
func fit(parts []part, columns int) string {
	for {
		line, last := "", 0
		for i, p := range parts {
			if line != "" && p.text != "" {
				line += "  "
			}
			line += p.text
			if p.rank >= parts[last].rank {
				last = i
			}
		}
		if textColumns(line) <= columns {
			return line
		}
		if line = strings.TrimLeft(line, " "); len(parts) < 2 || textColumns(line) <= columns {
			return line
		}
		parts = append(parts[:last:last], parts[last+1:]...)
	}
}

func textColumns(line string) (n int) {
	for _, r := range line {
		n += columnsOf(r)
	}
	return n
}
