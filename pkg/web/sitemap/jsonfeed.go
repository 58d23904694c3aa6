package sitemap

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// jsonFeed reads a JSON Feed (jsonfeed.org, 1 and 1.1) token by token. It is one only if its version says so before its
// items, as all that programs write do.
type jsonFeed struct {
	p    *parser
	dec  *json.Decoder
	in   *tokenReader
	kind Kind
	open []container
	link Link
	ext  string // external_url, where the item has no page of its own
}

// container is an open object or array.
type container struct {
	object bool
	key    string // of the value to come, in an object
	named  bool   // the key was read
}

// tokenReader ends with ErrTokenTooLong where a token takes more than max octets.
type tokenReader struct {
	r    io.Reader
	left int
}

func (t *tokenReader) Read(b []byte) (int, error) {
	if t.left <= 0 {
		return 0, ErrTokenTooLong
	}
	n, err := t.r.Read(b[:min(len(b), bufferLen)])
	t.left -= n
	return n, err
}

// feed reads a document that begins like an object of JSON.
func (p *parser) feed(text *bufio.Reader) (Kind, error) {
	f := &jsonFeed{p: p, in: &tokenReader{r: text}}
	f.dec = json.NewDecoder(f.in)
	for {
		f.in.left = max(p.limits.MaxToken, bufferLen)
		tok, err := f.dec.Token()
		if errors.Is(err, io.EOF) {
			return f.kind, nil
		}
		if err == nil {
			err = f.token(tok)
		}
		if err != nil || f.kind == Unknown && f.inItems(2) {
			return f.kind, err
		}
	}
}

// inItems says whether the reading is so deep, below the items of the feed.
func (f *jsonFeed) inItems(depth int) bool {
	return len(f.open) == depth && f.open[0].object && f.open[0].key == "items"
}

func (f *jsonFeed) token(tok json.Token) error {
	if d, ok := tok.(json.Delim); ok {
		return f.delim(d)
	}
	if len(f.open) == 0 {
		return nil
	}
	top := &f.open[len(f.open)-1]
	s, text := tok.(string)
	if top.object && !top.named {
		top.key, top.named = s, true
		return nil
	}
	top.named = false
	if text && top.object {
		f.member(top.key, strings.TrimSpace(s))
	}
	return nil
}

func (f *jsonFeed) delim(d json.Delim) error {
	if d == '{' || d == '[' {
		if len(f.open) == f.p.limits.MaxDepth {
			return ErrTooDeep
		}
		if f.inItems(2) {
			f.link, f.ext = Link{Priority: DefaultPriority}, ""
		}
		f.open = append(f.open, container{object: d == '{'})
		return nil
	}
	item := f.inItems(3)
	f.open = f.open[:len(f.open)-1]
	if len(f.open) > 0 {
		f.open[len(f.open)-1].named = false
	}
	if !item {
		return nil
	}
	if f.link.URL == "" {
		f.link.URL = f.ext
	}
	return f.p.link(f.link)
}

// member takes a text of the feed or of an item.
func (f *jsonFeed) member(key, val string) {
	switch {
	case len(f.open) == 1 && key == "version" && strings.HasPrefix(val, "https://jsonfeed.org/version/"):
		f.kind = JSONFeed
	case !f.inItems(3):
	case key == "url":
		f.link.URL = val
	case key == "external_url":
		f.ext = val
	case key == "date_modified", key == "date_published" && f.link.LastMod.IsZero():
		if t, ok := parseTime(val); ok {
			f.link.LastMod = t
		}
	}
}
