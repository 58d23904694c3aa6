package crawl

import (
	"strings"
	"testing"
)

// Users of wget or httrack write patterns of file names. As regular expressions they are wrong, or match hardly
// anything: what was meant is named.
func TestPatternsOfFileNames(t *testing.T) {
	for pattern, want := range map[string]string{
		"*.pdf":        `did you mean [^/]*\.pdf?`,
		"/docs/**":     `did you mean /docs/.*?`,
		"/docs/*.html": `did you mean /docs/[^/]*\.html?`,
		`\.pdf$`:       "", ".*": "", "/a/*": "", "https?://.*": "", "(": "",
	} {
		job := DefaultJob()
		job.ID, job.Seeds, job.Include, job.Exclude = "a", []string{"http://a.test/"}, []string{pattern}, []string{pattern}
		said := strings.Join(job.Notices(), "\n")
		if err := job.Validate(); err != nil {
			said += err.Error()
		}
		times := 2
		if want == "" {
			times = 0
		}
		if strings.Count(said, "did you mean") != times || !strings.Contains(said, want) {
			t.Errorf("%s: %s; want %q twice", pattern, said, want)
		}
	}
}
