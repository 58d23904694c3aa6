package secret_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
)

func TestResolve(t *testing.T) {
	t.Setenv("SECRET_A", "geheim")
	t.Setenv("SECRET_BAD", "geheim\nX-Other: 1")
	secret.Hold("SECRET_B", "held")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "file:" + path
	}
	for _, tc := range []struct{ text, want, fault string }{
		{"plain", "plain", ""},
		{"${SECRET_A}", "geheim", ""},
		{"Bearer ${SECRET_A}${SECRET_B}", "Bearer geheimheld", ""},
		{"$SECRET_A {x}", "$SECRET_A {x}", ""},
		{"${SECRET_NOBODY}", "", "${SECRET_NOBODY} is not set"},
		{"${" + secret.Given + "X}", "", "give the flag again"},
		{"${SECRET_BAD}", "", "control character"},
		{write("a", "geheim\r\nsecond"), "geheim", ""},
		{write("b", "geheim"), "geheim", ""},
		{write("c", ""), "", "is empty"},
		{write("d", "geheim\x00"), "", "control character"},
		{write("e", strings.Repeat("geheim", secret.MaxSize)), "", "longer than"},
		{"file:" + dir + "/nowhere", "", "nowhere cannot be read: no such file"},
	} {
		got, err := secret.Resolve(tc.text)
		if got != tc.want || (err == nil) != (tc.fault == "") || err != nil &&
			(!strings.Contains(err.Error(), tc.fault) || strings.Contains(err.Error(), "geheim")) {
			t.Errorf("%q: %q, %v; want %q, %q", tc.text, got, err, tc.want, tc.fault)
		}
	}
	for text, want := range map[string][2]bool{"${A}": {true, true}, "x${A}": {true, false}, "file:x": {true, true},
		"x": {}, "": {}, "${A}${B}": {true, true}, "${}": {}} {
		if got := [2]bool{secret.IsReference(text), secret.IsOnlyReference(text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
