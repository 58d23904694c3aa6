package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEditsOfAnExecutionAreListedAndTakenBack(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	s := startServe(t)
	file := filepath.Join(t.TempDir(), "job.yml")
	text := "id: fruit\nseeds: [\"" + s.site.URL + "/\"]\nallow_private: true\npoliteness: {delay: 0s}\nexclude: ['/b$']\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := []string{"--dir", s.dir}
	run := func(args ...string) string { t.Helper(); return must(t, append(args, at...)...) }
	run("apply", "-f", file)
	run("workflow", "run", "fruit", "--watch")
	if out := run("exec", "preview", "fruit-1", "--set", "exclude="); !strings.Contains(out, "come back") ||
		!strings.Contains(out, s.site.URL+"/b") {
		t.Errorf("the preview says\n%s", out)
	}
	if out := run("exec", "edit", "fruit-1", "--set", "exclude=", "-m", "with b", "--resume"); !strings.Contains(out,
		"exclude") {
		t.Errorf("the edit says\n%s", out)
	}
	if out := run("exec", "watch", "fruit-1"); !strings.Contains(out, "3 pages") {
		t.Errorf("the execution went on:\n%s", out)
	}
	if out := run("exec", "edit", "fruit-1", "--set", "exclude=", "--resume"); !strings.Contains(out,
		"nothing changes; it is at revision 2\nit is not resumed: `whirlpool exec resume fruit-1`") {
		t.Errorf("the edit that changes nothing says\n%s", out)
	}
	if out := run("exec", "revisions", "fruit-1"); !strings.Contains(out, "with b") ||
		!strings.Contains(out, "superseded") {
		t.Errorf("revisions:\n%s", out)
	}
	if out := run("exec", "undo", "fruit-1"); !strings.Contains(out, "/b$") {
		t.Errorf("undo says\n%s", out)
	}
	if out := run("exec", "revisions", "fruit-1"); !strings.Contains(out, "takes back 2") {
		t.Errorf("revisions:\n%s", out)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"keep_params", []string{"exec", "edit", "fruit-1", "--set", "keep_params=true"}},
		{"max_deep", []string{"exec", "edit", "fruit-1", "--set", "max_deep=3"}},
		{"key=value", []string{"exec", "edit", "fruit-1", "--set", "max_depth"}},
		{"nothing before it", []string{"exec", "undo", "fruit-1", "1"}},
	} {
		if r := whirlpool(t, append(c.args, at...)...); r.exit == exitOK || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: exit status %d, %s, want %q", c.args, r.exit, r.stderr, c.want)
		}
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
}
