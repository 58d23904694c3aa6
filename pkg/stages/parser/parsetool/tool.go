// Package parsetool is the logic of `whirlpool tool links` and `whirlpool tool text`: what the parser makes of a file,
// for people and for tests of other programs.
//
// Its duties: read the file, whatever its size; parse it as the crawler would, but without the crawler's bounds; print
// JSON lines. It never makes a network request.
package parsetool

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Link is one line of RunLinks.
type Link struct {
	URL  string `json:"url"` // resolved, as the URL Standard writes it
	Rel  string `json:"rel"`
	Text string `json:"text"`
}

// Text is the line of RunText.
type Text struct {
	Title   string `json:"title"`
	Text    string `json:"text"`
	Lang    string `json:"lang"`
	Charset string `json:"charset"`
}

// RunLinks writes the http and https links of an HTML file in the order of the document, one JSON line each. The
// references are resolved against base, the URL of the page, or the file's own base element. File "-" is standard
// input.
func RunLinks(base, file string, w io.Writer) error {
	page, err := weburl.Parse(base)
	if err != nil {
		return fmt.Errorf("base URL %q: %w", base, err)
	}
	body, err := read(file)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, l := range parser.Parse(body, "", page, parser.Options{}).Links {
		if l.URL.IsZero() {
			continue
		}
		if err := enc.Encode(Link{l.URL.String(), l.Rel, l.Text}); err != nil {
			return fmt.Errorf("write the links of %s: %w", file, err)
		}
	}
	return out.Flush()
}

// RunText writes title, main text, language and encoding of an HTML file as one JSON line. File "-" is standard input.
func RunText(file string, w io.Writer) error {
	body, err := read(file)
	if err != nil {
		return err
	}
	page, err := weburl.Parse("http://localhost/")
	if err != nil {
		return err
	}
	r := parser.Parse(body, "", page, parser.Options{GuessLang: true})
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(Text{r.Title, r.Text, r.Lang, r.Charset}); err != nil {
		return fmt.Errorf("write the text of %s: %w", file, err)
	}
	return nil
}

func read(file string) ([]byte, error) {
	if file == "-" {
		body, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return body, nil
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	return body, nil
}
