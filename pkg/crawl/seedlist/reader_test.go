package seedlist_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
)

// read returns what a list says, a text a line.
func read(in io.Reader, skip int) (out []string, err error) {
	r := seedlist.NewReader(in)
	if err := r.Skip(skip); err != nil {
		return nil, err
	}
	for {
		l, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, err
		case l.Err != nil:
			out = append(out, fmt.Sprintf("%d bad", l.Number))
		default:
			out = append(out, fmt.Sprintf("%d %s", l.Number, l.URL))
		}
	}
}

func compressed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func TestLists(t *testing.T) {
	long := strings.Repeat("x", seedlist.MaxLine)
	for name, c := range map[string]struct {
		list, want string
		skip       int
	}{
		"empty":            {"", "", 0},
		"lines":            {"http://a.test/\nhttp://b.test/\n", "1 http://a.test/, 2 http://b.test/", 0},
		"no end":           {"http://a.test/", "1 http://a.test/", 0},
		"CRLF":             {"http://a.test/\r\nhttp://b.test/\r\n", "1 http://a.test/, 2 http://b.test/", 0},
		"BOM":              {"\ufeffhttp://a.test/\n", "1 http://a.test/", 0},
		"comments":         {"# one\n\n \thttp://a.test/ \t# two\n#three", "3 http://a.test/", 0},
		"no comment":       {"http://a.test/#part", "1 http://a.test/#part", 0},
		"without a scheme": {"a.test/x", "1 http://a.test/x", 0},
		"no URL": {"http://a.test/\nftp://b.test/\nhttp://c.test/", "1 http://a.test/, 2 bad, 3 http://c.test/",
			0},
		"a password": {"http://me:pw@a.test/", "1 bad", 0},
		"a line too long": {"http://a.test/\nhttp://" + long + long + "\nhttp://c.test/",
			"1 http://a.test/, 2 bad, 3 http://c.test/", 0},
		"too long, no end":  {"http://" + long, "1 bad", 0},
		"compressed":        {compressed("\ufeffhttp://a.test/\r\n"), "1 http://a.test/", 0},
		"skipped":           {"bad line\n\nhttp://c.test/\nhttp://d.test/", "4 http://d.test/", 3},
		"skipped to an end": {"http://a.test/\n", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(strings.NewReader(c.list), c.skip)
			if text := strings.Join(got, ", "); err != nil || text != c.want {
				t.Errorf("got %q, %v; want %q", text, err, c.want)
			}
		})
	}
}

func TestListsThatCannotBeRead(t *testing.T) {
	for name, list := range map[string]string{"UTF-16": "\xff\xfeh\x00",
		"cut": compressed(strings.Repeat("http://a.test/\n", 100))[:30], "like gzip": "\x1f\x8bnothing"} {
		if _, err := read(strings.NewReader(list), 0); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Whatever the bytes, lines are told in order, and what is a seed is one by itself.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"http://a.test/\r\n# c\nb.test", "\ufeff", "\x1f\x8b", "a\x00b\n\n\n", "http://u:p@h/",
		"\xff\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, last := seedlist.NewReader(strings.NewReader(text)), 0
		for {
			l, err := r.Next()
			if err != nil {
				return
			}
			if l.Number <= last {
				t.Fatalf("line %d after line %d", l.Number, last)
			}
			last = l.Number
			if l.Err == nil && (l.URL.IsZero() || l.URL.IsForeign()) {
				t.Errorf("line %d is the seed %q", l.Number, l.URL)
			}
		}
	})
}
