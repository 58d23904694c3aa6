package jobfile

import (
	"fmt"
	"strings"
	"testing"
)

// Files of some kilobytes that would take all time and memory there is are refused, with few words.
func TestFilesThatNoJobNeeds(t *testing.T) {
	many := func(n int, part string) string { return strings.Repeat(part, n) }
	var unknown strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&unknown, "a%d: 1\n", i)
	}
	for name, tt := range map[string]struct{ file, want string }{
		"parts that are named again": {"x: &f {name: a, css: [1]}\ny: &s {name: [a], fields: [" + many(9000,
			"*f, ") + "]}\nseeds: [http://a.test/]\nselect: [" +
			many(9000, "*s, ") + "]\n", "names parts of itself too often"},
		"keys that are merged again": {"x: &x {max_pages: 1}\n" + many(50_000, "<<: *x\n"), "50001 keys in one place"},
		"keys that there are not":    {unknown.String(), "90000 keys in one place"},
		"a key that stands twice":    {"politeness:\n  delay: 1s\n  delay: 2s\n", "delay stands on line 2 already"},
		"wrong values":               {"headers: [" + many(9000, "{name: [1]}, ") + "]", "want "},
		"a long word":                {"user_agent: [" + many(900_000, "a") + "]", "user_agent"},
	} {
		_, err := Parse([]byte(tt.file))
		faults := Faults([]byte(tt.file), err)
		if err == nil || len(faults) == 0 || len(faults) > maxFaults+1 {
			t.Errorf("%s: %d faults, %.200v", name, len(faults), err)
			continue
		}
		if !strings.Contains(faults[0].Message, tt.want) || len(faults[0].Message) > 1100 {
			t.Errorf("%s: %.300s", name, faults[0].Message)
		}
	}
}

// The places of many wrong seeds are found without looking through all for each.
func TestManyWrongSeeds(t *testing.T) {
	file := "seeds:\n" + strings.Repeat("- http://a.test/\n", 40_000) +
		strings.Repeat("- ftp://b.test/\n- ftp://c.test/\n", 200)
	job, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	job.ID = "j"
	faults := Faults([]byte(file), job.Validate())
	if len(faults) != maxFaults+1 || faults[0].Key != "seeds[40000]" || faults[1].Key != "seeds[40001]" ||
		faults[0].Line != 40_002 || !strings.Contains(faults[maxFaults].Message, "300 more faults") {
		t.Errorf("%d faults: %+v … %+v", len(faults), faults[0], faults[len(faults)-1])
	}
}
