package manifest

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Bounds of a descriptor.
const (
	maxSummary = 200 // bytes
	maxList    = 64  // authors, arguments, fields, tests
	maxMemory  = 256 << 20
	minMemory  = 1 << 20
	maxOutput  = 16 << 20
	ownOwner   = "builtin/"
)

var (
	validName    = regexp.MustCompile(`^[a-z0-9-]{1,32}/[a-z0-9-]{1,32}$`)
	validVersion = regexp.MustCompile(`^(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})$`)
	validSum     = regexp.MustCompile(`^[0-9a-f]{64}$`)
	fieldTypes   = []string{"string", "number", "bool", "list", "object"}
)

// faults collects what is wrong.
type faults []error

func (f *faults) bad(cond bool, key, format string, args ...any) {
	if cond {
		*f = append(*f, &Error{Key: key, Text: fmt.Sprintf(format, args...)})
	}
}

// check finds what is wrong with a descriptor.
func check(d *plugin.Descriptor) []error {
	var f faults
	f.bad(!validName.MatchString(d.Name), "name", "%q: want OWNER/NAME, each 1 to 32 characters of a-z, 0-9 and -", d.Name)
	f.bad(strings.HasPrefix(d.Name, ownOwner), "name", "%q: the owner builtin is the program's own: want another", d.Name)
	f.bad(!validVersion.MatchString(d.Version), "version", "%q: want MAJOR.MINOR.PATCH, as in 1.2.0", d.Version)
	f.bad(d.ABI != plugin.ABI, "abi", "%q: want %q", d.ABI, plugin.ABI)
	f.bad(d.Tier != plugin.WASM && d.Tier != plugin.Process, "tier", "%q: want wasm or process", d.Tier)
	f.bad(!local(d.Entry), "entry", "%q: want a file beside %s", d.Entry, Name)
	f.bad(d.Tier == plugin.WASM && len(d.Args) > 0, "args", "a module has none: leave it out")
	f.bad(d.SHA256 != "" && !validSum.MatchString(d.SHA256), "sha256", "want 64 digits of 0-9 and a-f, or leave it out")
	f.bad(strings.TrimSpace(d.Summary) == "", "summary", "it is missing: want one line that says what the plug-in does")
	f.bad(len(d.Summary) > maxSummary || strings.ContainsAny(d.Summary, "\r\n"), "summary",
		"want one line of at most %d bytes", maxSummary)
	f.bad(len(d.Args) > maxList, "args", "%d: want at most %d", len(d.Args), maxList)
	f.bad(len(d.Authors) > maxList, "authors", "%d: want at most %d", len(d.Authors), maxList)
	f.bad(len(d.Tests) > maxList, "tests", "%d: want at most %d", len(d.Tests), maxList)
	checkServes(d, &f)
	checkLimits(&d.Limits, &f)
	checkTests(d, &f)
	_, err := SchemaOf(d)
	f.bad(err != nil, "config", "%v", err)
	return f
}

// local reports whether a name is one of a file in the directory or below it.
func local(name string) bool {
	return name != "." && fs.ValidPath(name) && !strings.Contains(name, `\`)
}

func checkServes(d *plugin.Descriptor, f *faults) {
	f.bad(len(d.Serves) == 0, "serves", `it is missing: want [[serves]] with point = "document" or another`)
	seen := make([]crawl.Point, 0, len(d.Serves))
	for i, s := range d.Serves {
		key := func(name string) string { return fmt.Sprintf("serves[%d].%s", i, name) }
		f.bad(!slices.Contains(crawl.Points(), s.Point), key("point"), "%q: want one of %s", s.Point, points())
		f.bad(slices.Contains(seen, s.Point), key("point"), "%q: it is there already", s.Point)
		seen = append(seen, s.Point)
		for _, n := range s.Needs {
			f.bad(n != plugin.NeedsBody && n != plugin.NeedsText, key("needs"), "%q: want body or text", n)
		}
		f.bad(len(s.Adds) > maxList, key("adds"), "%d fields: want at most %d", len(s.Adds), maxList)
		for name, kind := range s.Adds {
			f.bad(!slices.Contains(fieldTypes, kind), key("adds."+name), "%q: want one of %s", kind,
				strings.Join(fieldTypes, ", "))
		}
	}
}

func points() string {
	names := make([]string, 0, len(crawl.Points()))
	for _, p := range crawl.Points() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

func checkLimits(l *plugin.Limits, f *faults) {
	f.bad(l.Memory != 0 && (l.Memory < minMemory || l.Memory > maxMemory), "limits.memory", "%s: want 1MiB to 256MiB",
		l.Memory)
	f.bad(l.Timeout != 0 && (l.Timeout.D() < time.Millisecond || l.Timeout.D() > crawl.MaxPluginTime), "limits.timeout",
		"%s: want 1ms to %s", l.Timeout, crawl.MaxPluginTime)
	f.bad(l.Output < 0 || l.Output > maxOutput, "limits.output", "%s: want at most 16MiB", l.Output)
}

func checkTests(d *plugin.Descriptor, f *faults) {
	for i, t := range d.Tests {
		key := func(name string) string { return fmt.Sprintf("tests[%d].%s", i, name) }
		_, served := d.ServesAt(t.Point)
		f.bad(t.Point != "" && !served, key("point"), "%q: it is not one of [[serves]]", t.Point)
		f.bad(!local(t.Input), key("input"), "%q: want a file beside %s", t.Input, Name)
		f.bad(!local(t.Want), key("want"), "%q: want a file beside %s", t.Want, Name)
	}
}
