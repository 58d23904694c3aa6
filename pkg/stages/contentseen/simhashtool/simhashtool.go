// Package simhashtool is the logic of `whirlpool tool simhash`: what content-seen makes of the main text of files, for
// people and for tests of other programs.
//
// Its duties: read each file, take its main text as the crawler would, print its fingerprint as a JSON line. It must
// never fetch or store anything.
package simhashtool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Simhash is one line of RunSimhash.
type Simhash struct {
	File     string `json:"file"`
	Simhash  string `json:"simhash"`  // 16 hexadecimal digits
	Features int    `json:"features"` // words; below contentseen.MinFeatures the crawler makes no near-duplicate test
}

// RunSimhash writes the simhash of the main text of each file, HTML or plain text, one JSON line each. File "-" is
// standard input.
func RunSimhash(files []string, w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, file := range files {
		text, err := Text(file)
		if err != nil {
			return flushed(out, err)
		}
		simhash, _, features := contentseen.Fingerprint(text)
		if err := enc.Encode(Simhash{file, fmt.Sprintf("%016x", simhash), features}); err != nil {
			return fmt.Errorf("write the simhash of %s: %w", file, err)
		}
	}
	return flushed(out, nil)
}

// flushed writes what out holds, so that files before a bad one are not lost, and returns err or what went wrong now.
func flushed(out *bufio.Writer, err error) error {
	if ferr := out.Flush(); err == nil && ferr != nil {
		return fmt.Errorf("write simhashes: %w", ferr)
	}
	return err
}

// Text returns the main text of a file: of HTML what the parser finds, of anything else all of it. File "-" is standard
// input.
func Text(file string) (string, error) {
	body, err := read(file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	if isHTML(file, body) {
		base, err := weburl.Parse("http://localhost/")
		if err != nil {
			return "", err
		}
		return parser.HTML(body, "", base, parser.Options{}).Text, nil
	}
	return parser.Plain(body, "", parser.Options{}).Text, nil
}

func read(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(file)
}

// sniffed is how many bytes the type is told from, as in the MIME Sniffing Standard, with room for a long prologue.
const sniffed = 1024

// isHTML tells a type by the file's name, else by its first bytes.
func isHTML(file string, body []byte) bool {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".html", ".htm", ".xhtml":
		return true
	case ".txt", ".md", ".rst":
		return false
	}
	head := bytes.TrimPrefix(body[:min(len(body), sniffed)], []byte("\xef\xbb\xbf"))
	if strings.HasPrefix(http.DetectContentType(head), "text/html") {
		return true
	}
	head = bytes.ToLower(bytes.ReplaceAll(head, []byte{0}, nil)) // UTF-16 reads as ASCII without its zeros
	return bytes.Contains(head, []byte("<!doctype html")) || bytes.Contains(head, []byte("<html"))
}
