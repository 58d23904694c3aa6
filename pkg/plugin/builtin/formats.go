package builtin

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/jsonpointer"
)

// maxItems is how many rows or entries are taken, where the settings say no other number.
const maxItems = 1000

func limit(n int) (int, error) {
	if n < 0 || n > 100_000 {
		return 0, bad("max", "%d: want 1 to 100000", n)
	}
	if n == 0 {
		return maxItems, nil
	}
	return n, nil
}

// jsonNode takes fields from documents in JSON.
func jsonNode() *builtin {
	return &builtin{plugin.Descriptor{Name: "json",
		Summary: "Takes fields, title and text from documents in JSON; name application/json in media_types",
		Serves:  serving(needsBody, crawl.AtDocument),
		Config: object(nil, map[string]any{"fields": byName("JSON pointers (RFC 6901), by the field that gets their value"),
			"title": prop("string", "JSON pointer of the title"), "text": prop("string", "JSON pointer of the text")})},
		makeJSON}
}

func makeJSON(at crawl.Point, with map[string]any) (handler, error) {
	var set struct {
		Fields      map[string]string
		Title, Text string
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	pointers := map[string]jsonpointer.Pointer{}
	for key, text := range withPrefix(set.Fields, set.Title, set.Text) {
		p, err := jsonpointer.Parse(text)
		if err != nil {
			return nil, bad(key, "%v", err)
		}
		pointers[key] = p
	}
	if len(pointers) == 0 {
		return nil, bad("", "want fields, title or text")
	}
	return func(call *plugin.Call) (*plugin.Answer, error) {
		body := bytes.TrimPrefix(call.Body(), []byte("\ufeff"))
		if d, ok := call.Message.(*plugin.Document); ok && !strings.Contains(d.ContentType, "json") {
			return pass, nil
		}
		if !json.Valid(body) {
			return nil, errors.New("the document is no JSON")
		}
		return taken(at, body, pointers), nil
	}, nil
}

// withPrefix are pointers by the keys of their settings.
func withPrefix(fields map[string]string, title, text string) map[string]string {
	out := map[string]string{}
	for name, p := range fields {
		out["fields."+name] = p
	}
	if title != "" {
		out["title"] = title
	}
	if text != "" {
		out["text"] = text
	}
	return out
}

func taken(at crawl.Point, body []byte, pointers map[string]jsonpointer.Pointer) *plugin.Answer {
	fields := map[string]any{}
	var title, text *string
	for key, p := range pointers {
		found := p.Find(body)
		if found == nil {
			continue
		}
		got, err := jsonpointer.Value(found)
		if err != nil || got == nil {
			continue
		}
		name, isField := strings.CutPrefix(key, "fields.")
		s, isText := got.(string)
		switch {
		case isField:
			fields[name] = got
		case !isText:
		case key == "title":
			title = &s
		default:
			text = &s
		}
	}
	return patchOf(at, title, text, fields)
}

// csvNode makes a list of objects of documents in CSV.
func csvNode() *builtin {
	return &builtin{plugin.Descriptor{Name: "csv",
		Summary: "Makes a list of objects of documents in CSV; name text/csv in media_types",
		Serves:  serving(needsBody, crawl.AtDocument),
		Config: object(nil, map[string]any{"field": prop("string", "field that gets the rows; default rows"),
			"delimiter": prop("string", "one character; default: the comma, or what the first line has more of"),
			"names":     texts("names of the columns; none: the first line has them"),
			"max":       prop("integer", "rows that are taken; default 1000")})}, makeCSV}
}

func makeCSV(at crawl.Point, with map[string]any) (handler, error) {
	var set struct {
		Field, Delimiter string
		Names            []string
		Max              int
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(set.Delimiter) > 1 {
		return nil, bad("delimiter", "%q: want one character", set.Delimiter)
	}
	most, err := limit(set.Max)
	if err != nil {
		return nil, err
	}
	if set.Field == "" {
		set.Field = "rows"
	}
	return func(call *plugin.Call) (*plugin.Answer, error) {
		if d, ok := call.Message.(*plugin.Document); ok && !strings.Contains(d.ContentType, "csv") &&
			d.ContentType != "text/plain" {
			return pass, nil
		}
		rows, err := csvRows(call.Body(), set.Delimiter, set.Names, most)
		if err != nil {
			return nil, err
		}
		return patchOf(at, nil, nil, map[string]any{set.Field: rows}), nil
	}, nil
}

func csvRows(body []byte, delimiter string, names []string, most int) ([]any, error) {
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	r := csv.NewReader(bytes.NewReader(body))
	r.FieldsPerRecord, r.LazyQuotes, r.Comma = -1, true, comma(body, delimiter)
	rows := []any{}
	for len(rows) < most {
		cells, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return nil, fmt.Errorf("the document is no CSV: %w", err)
		case names == nil:
			names = cells
			continue
		}
		row := map[string]any{}
		for i, cell := range cells {
			name := fmt.Sprintf("column%d", i+1)
			if i < len(names) && strings.TrimSpace(names[i]) != "" {
				name = strings.TrimSpace(names[i])
			}
			row[name] = strings.ToValidUTF8(cell, "\uFFFD")
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func comma(body []byte, delimiter string) rune {
	if delimiter != "" {
		r, _ := utf8.DecodeRuneInString(delimiter)
		return r
	}
	line, _, _ := bytes.Cut(body, []byte("\n"))
	best, most := ',', bytes.Count(line, []byte(","))
	for _, c := range ";\t|" {
		if n := bytes.Count(line, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

// feed makes a list of the entries of RSS and Atom feeds.
func feed() *builtin {
	return &builtin{plugin.Descriptor{Name: "feed", Summary: "Makes a list of the entries of RSS and Atom feeds; name " +
		"application/rss+xml and application/atom+xml in media_types",
		Serves: serving(needsBody, crawl.AtDocument),
		Config: object(nil, map[string]any{"field": prop("string", "field that gets the entries; default entries"),
			"max": prop("integer", "entries that are taken; default 1000")})}, makeFeed}
}

func makeFeed(at crawl.Point, with map[string]any) (handler, error) {
	var set struct {
		Field string
		Max   int
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	most, err := limit(set.Max)
	if err != nil {
		return nil, err
	}
	if set.Field == "" {
		set.Field = "entries"
	}
	return func(call *plugin.Call) (*plugin.Answer, error) {
		if d, ok := call.Message.(*plugin.Document); ok && !strings.Contains(d.ContentType, "xml") {
			return pass, nil
		}
		title, entries, err := feedEntries(call.Body(), most)
		if err != nil || entries == nil {
			return pass, err
		}
		return patchOf(at, title, nil, map[string]any{set.Field: entries}), nil
	}, nil
}

// feedDocument is RSS 2.0, RSS 1.0 or Atom.
type feedDocument struct {
	XMLName xml.Name
	Title   string      `xml:"title"`
	Channel feedChannel `xml:"channel"`
	Items   []feedItem  `xml:"item"`
	Entries []feedItem  `xml:"entry"`
}

type feedChannel struct {
	Title string     `xml:"title"`
	Items []feedItem `xml:"item"`
}

type feedItem struct {
	Title string `xml:"title"`
	Links []struct {
		Href string `xml:"href,attr"`
		Rel  string `xml:"rel,attr"`
		Text string `xml:",chardata"`
	} `xml:"link"`
	ID        string `xml:"id"`
	GUID      string `xml:"guid"`
	PubDate   string `xml:"pubDate"`
	Date      string `xml:"date"`
	Published string `xml:"published"`
	Updated   string `xml:"updated"`
	Summary   string `xml:"summary"`
	About     string `xml:"description"`
}

// feedEntries returns nil where the document is another XML document.
func feedEntries(body []byte, most int) (title *string, entries []any, err error) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.Strict, dec.Entity, dec.CharsetReader = false, xml.HTMLEntity, charset.NewReaderLabel
	var doc feedDocument
	if err := dec.Decode(&doc); err != nil {
		return nil, nil, fmt.Errorf("the document is no feed: %w", err)
	}
	var items []feedItem
	switch strings.ToLower(doc.XMLName.Local) {
	case "rss":
		items, doc.Title = doc.Channel.Items, doc.Channel.Title
	case "rdf":
		items, doc.Title = doc.Items, doc.Channel.Title
	case "feed":
		items = doc.Entries
	default:
		return nil, nil, nil
	}
	entries = []any{}
	for i := range items[:min(len(items), most)] {
		entries = append(entries, items[i].object())
	}
	if name := strings.TrimSpace(doc.Title); name != "" {
		title = &name
	}
	return title, entries, nil
}

func (i *feedItem) object() map[string]any {
	out := map[string]any{}
	put := func(key string, values ...string) {
		for _, v := range values {
			if v = strings.TrimSpace(v); v != "" {
				out[key] = v
				return
			}
		}
	}
	put("title", i.Title)
	for _, l := range i.Links {
		if l.Rel == "" || l.Rel == "alternate" {
			put("url", l.Href, l.Text)
			break
		}
	}
	put("id", i.ID, i.GUID)
	put("published", i.Published, i.PubDate, i.Date, i.Updated)
	put("summary", i.Summary, i.About)
	return out
}
