package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// TestEveryNoteHasItsFigure writes audits with something of everything to note: a closure applies the formats, so
// that no tool counts their arguments.
func TestEveryNoteHasItsFigure(t *testing.T) {
	all := crawl.AuditReport{Doubled: 2, Stale: 3, Buried: 4, DeadLetters: 5, Lost: 6, Again: 8, Forgotten: 9}
	dir, cluster := all, all
	dir.Directory = &crawl.DirectoryAudit{Unsummed: 7}
	cluster.Cluster = &crawl.ClusterAudit{Unsummed: 7, Unstored: 1, BuriedPages: 1}
	for name, r := range map[string]*crawl.AuditReport{"directory": &dir, "cluster": &cluster} {
		var b bytes.Buffer
		if err := WriteAudit(&b, r); err != nil {
			t.Fatal(err)
		}
		if s := b.String(); strings.Contains(s, "%!") || !strings.Contains(s, "note   7 records") {
			t.Errorf("audit of a %s:\n%s", name, s)
		}
	}
}
