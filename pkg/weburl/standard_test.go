package weburl

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStandardSuite runs the web-platform-tests' URL cases that whatwg-url (a test-only oracle here) ships in its module.
// The two cases tables differ in age: see standardSince.
func TestStandardSuite(t *testing.T) {
	for _, c := range suite(t, "urltestdata.json") {
		base := ""
		if c.Base != nil {
			base = *c.Base
		}
		href, err := ParseAny(c.Input, base)
		if c.Failure != (err != nil) || href != c.Href {
			t.Errorf("ParseAny(%q, %q) = %q, %v; want %q, failure %v", c.Input, base, href, err, c.Href, c.Failure)
		}
	}
}

type suiteCase struct {
	Input, Href string
	Base        *string
	Output      *string
	Failure     bool
}

// suite reads a case table from the oracle's module directory, or from the directory named by WEBURL_WPT.
func suite(t *testing.T, name string) []suiteCase {
	t.Helper()
	dir := os.Getenv("WEBURL_WPT")
	if dir == "" {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/nlnwa/whatwg-url").Output()
		if err != nil {
			t.Skipf("the oracle's module is not at hand: %v", err)
		}
		dir = filepath.Join(strings.TrimSpace(string(out)), "testdata")
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("no case table: %v", err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	var cases []suiteCase
	for _, r := range raw {
		if r[0] == '"' {
			continue // a comment
		}
		var c suiteCase
		if err := json.Unmarshal(r, &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}
