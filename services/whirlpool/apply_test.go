package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDocumentsOfAFile(t *testing.T) {
	d,
		err := documentsOf("id: postings # the slug\nseeds: [http://a.test/]\n---\nschedule: nightly\nworkflow: postings\n" +
		"cron: 30 2 * * *\ntz: Europe/Copenhagen\noverlap: queue\n" +
		"---\nchannel: ops\nkind: webhook\nurl: https://a.test/\nsecrets: ['${HOOK}']\n---\nalert: failed\non: failed\n" +
		"channels: [ops]\nthreshold: 0.5\n")
	if err != nil || len(d.jobs) != 1 || len(d.schedules) != 1 || d.jobs[0].Slug != "postings" || len(d.channels) != 1 ||
		len(d.rules) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	if c, r := d.channels[0], d.rules[0]; c.Name != "ops" || c.Kind != "webhook" || len(c.Secrets) != 1 ||
		r.Name != "failed" || r.Threshold != 0.5 {
		t.Errorf("%+v, %+v", c, r)
	}
	s := d.schedules[0]
	if s.Workflow != "postings" || s.Name != "nightly" || s.Cron != "30 2 * * *" || s.Zone != "Europe/Copenhagen" ||
		s.Overlap != "queue" {
		t.Errorf("%+v", s)
	}
	for _, text := range []string{"", "seeds: []\n", "schedule: x\ncron: '@daily'\n",
		"schedule: x\nworkflow: y\ncorn: '@daily'\n", "alert: x\nonn: failed\n", "channel: x\nname: y\nkind: webhook\n"} {
		if _, err := documentsOf(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// What is wrong with a file is told with its line, in the words of the file.
func TestFaultsOfAFileForApplyNameTheLine(t *testing.T) {
	const job = "id: shop\nseeds: [http://a.test/]\n---\n" // three lines
	const schedule, channel = "schedule: s\nworkflow: shop\n", "channel: c\nkind: webhook\n"
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":        {"", "it is empty: write a job file"},
		"comments alone": {"# nothing\n---\n", "it is empty: write a job file"},
		"no id":          {job + "seeds: []\n", "line 4: it has no id"},
		"unknown key":    {job + schedule + "corn: '@daily'\n", "line 6: there is no key corn; did you mean cron?"},
		"unlike any key": {job + schedule + "whatever: 1\n",
			"line 6: there is no key whatever; there are catch_up, catch_up_max, cron,"},
		"of a channel": {job + channel + "prt: 1\n", "line 6: there is no key prt; did you mean port?"},
		"name":         {job + channel + "name: n\n", "line 6: name: it is what channel says"},
		"value":        {job + channel + "port: many\n", `line 6: port: want a whole number, not "many"`},
		"fraction":     {job + channel + "port: 2.5\n", `line 6: port: want a whole number, not "2.5"`},
		"list": {"alert: a\nchannels: ops\n",
			`line 2: channels: want a list of texts, as in [a, b], not "ops"`},
		"number": {"alert: a\nthreshold: [1]\n", "line 2: threshold: want a number, not a list"},
		"time": {"alert: a\nsilenced_until: soon\n",
			`line 2: silenced_until: want a time, as in 2026-12-01T08:00:00Z, not "soon"`},
		"two faults": {"alert: a\nonn: failed\n---\n" + channel + "prt: 1\n",
			"line 2: there is no key onn; did you mean on?\nline 6: "},
		"no YAML":        {job + "id: [\n", "line 4: did not find"},
		"a list":         {job + "- a\n", "line 4: want keys with values"},
		"key twice":      {job + "id: a\nid: b\n", `line 5: mapping key "id" already defined at line 4`},
		"workflow twice": {job + "id: shop\n", "line 4: workflow shop stands at line 1 already"},
		"schedule twice": {schedule + "---\n" + schedule,
			"line 4: schedule s of workflow shop stands at line 1 already"},
		"channel twice":           {channel + "---\n" + channel, "line 4: channel c stands at line 1 already"},
		"alert twice":             {"alert: a\n---\n# again\nalert: a\n", "line 3: alert a stands at line 1 already"},
		"schedule of no workflow": {job + "schedule: s\n", "line 4: a schedule has a name and a workflow"},
	} {
		if _, err := documentsOf(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	d, err := documentsOf("# of our shop\n---\n" + schedule +
		"once: 2026-12-01T08:00\nstart: 2026-12-01\n---\nschedule: s\nworkflow: other\ncatch_up_max: 3\n---\n" +
		"alert: a\nsilenced_until: 2026-12-01T08:00:00Z\n---\nalert: b\nsilenced_until: '2026-12-01T08:00:00Z'\n")
	if err != nil || d.schedules[0].Once != "2026-12-01T08:00" || d.schedules[0].Start != "2026-12-01" ||
		d.schedules[1].CatchUpMax != 3 || d.rules[0].Silenced.IsZero() || d.rules[1].Silenced.IsZero() {
		t.Errorf("%+v, %v", d, err)
	}
}

// A file with channels, rules and a workflow is applied once; again nothing changes, and a plan does nothing.
func TestApplyAlerts(t *testing.T) {
	s := startServe(t)
	run := func(args ...string) result { t.Helper(); return whirlpool(t, append(args, "--dir", s.dir)...) }
	file := filepath.Join(t.TempDir(), "all.yml")
	text := "alert: late\non: slot\nworkflow: shop\nchannels: [ops]\n---\nchannel: ops\nkind: webhook\n" +
		"url: https://a.test/\n---\nid: shop\nseeds: [" + s.site.URL + "/]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		action string
	}{{[]string{"--dry-run"}, "create"}, {nil, "create"}, {nil, "none"}, {[]string{"--dry-run"}, "none"}} {
		r := run(append([]string{"apply", "-f", file}, c.args...)...)
		if r.exit != exitOK || strings.Count(r.stdout, c.action) != 3 || !strings.Contains(r.stdout, "channel ops") ||
			!strings.Contains(r.stdout, "alert late") {
			t.Fatalf("%q: %+v", c.args, r)
		}
		if r := run("alert", "rules"); strings.Contains(r.stdout, "late") == (c.action == "create" && len(c.args) > 0) {
			t.Errorf("%q: the rules are %s", c.args, r.stdout)
		}
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, "on: slot", "on: failed", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run("apply", "-f", file); r.exit != exitOK || !strings.Contains(r.stdout, "alert late   change") {
		t.Errorf("%+v", r)
	}
	bad := "id: fine\nseeds: [http://a.test/]\n--- # another\n# of ours\nid: wrong\nseeds: [http://a.test/]\nmax_page: 5\n"
	if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run("apply", "-f", file); r.exit != exitFailure ||
		!strings.Contains(r.stderr, file+": line 7: workflow wrong: there is no key max_page") {
		t.Errorf("%+v", r)
	}
}

// What cannot be applied is no plan, and nothing of its file is applied. Documents may refer to others of the file.
func TestAFileThatCannotBeAppliedIsNotBegun(t *testing.T) {
	s := startServe(t)
	run := func(args ...string) result { t.Helper(); return whirlpool(t, append(args, "--dir", s.dir)...) }
	file := filepath.Join(t.TempDir(), "all.yml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	job := func(id string) string { return "id: " + id + "\nseeds: [" + s.site.URL + "/]\n---\n" }
	const daily = "cron: '@daily'\n"
	write(job("old"))
	if r := run("apply", "-f", file); r.exit != exitOK {
		t.Fatalf("%+v", r)
	}
	if r := run("workflow", "archive", "old"); r.exit != exitOK {
		t.Fatalf("%+v", r)
	}
	for name, tt := range map[string]struct{ doc, says string }{
		"no such workflow":         {"schedule: nightly\nworkflow: none\n" + daily, "schedule nightly of workflow none"},
		"an archived workflow":     {"schedule: nightly\nworkflow: old\n" + daily, "archived"},
		"a name that is none":      {"schedule: Ni ght\nworkflow: new\n" + daily, "a-z, 0-9 and -"},
		"no such channel":          {"alert: a\non: failed\nchannels: [none]\n", `no channel "none"`},
		"a negative threshold":     {"alert: a\non: failed\nthreshold: -1\n", "threshold -1"},
		"an alert on no workflow":  {"alert: a\non: failed\nworkflow: none\n", "alert a"},
		"a channel without a kind": {"channel: c\n", "channel c"},
		"a job with a fault":       {"id: other\nseeds: ['x:y']\n", "other"},
	} {
		write(job("new") + tt.doc)
		for _, dry := range []string{"--dry-run", "--dry-run=false"} {
			if r := run("apply", "-f", file, dry); r.exit == exitOK || !strings.Contains(r.stderr, tt.says) {
				t.Errorf("%s, %s: %+v", name, dry, r)
			}
		}
		if r := run("workflow", "show", "new"); r.exit == exitOK {
			t.Fatalf("%s: the workflow before it was made", name)
		}
	}
	write(job("new") + "schedule: nightly\nworkflow: new\n" + daily + "---\nalert: a\non: failed\nworkflow: new\n")
	for _, dry := range []string{"--dry-run", "--dry-run=false"} {
		if r := run("apply", "-f", file, dry); r.exit != exitOK || strings.Count(r.stdout, "create") != 3 {
			t.Errorf("%s: %+v", dry, r)
		}
	}
}
