package workflow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// shelf is a repository of one plug-in, whose content may be replaced.
type shelf struct{ digest string }

func (s *shelf) check(job *crawl.Job) error {
	for _, n := range job.Pipeline.Nodes {
		if n.Digest != "" && n.Digest != s.digest {
			return &crawl.KeyError{Key: "pipeline.nodes[0].digest", Problem: "x/y@1.0.0 has another here"}
		}
	}
	return nil
}

func (s *shelf) pin(job *crawl.Job) error {
	for i := range job.Pipeline.Nodes {
		if job.Pipeline.Nodes[i].Digest == "" {
			job.Pipeline.Nodes[i].Digest = s.digest
		}
	}
	return nil
}

// pinned is the digest that a stored version names.
func pinned(t *testing.T, v *workflow.Version) string {
	t.Helper()
	job, err := crawl.DecodeJob(v.Definition, 0)
	if err != nil || len(job.Pipeline.Nodes) != 1 {
		t.Fatalf("%s, %v", v.Definition, err)
	}
	return job.Pipeline.Nodes[0].Digest
}

// A version names the bytes of its plug-ins, which neither an edit nor a restore changes: where the repository has
// others under the name by then, they are refused.
func TestAVersionNamesTheBytesOfItsPlugins(t *testing.T) {
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	s := &shelf{digest: a}
	w := newWorld(t, func(o *workflow.Options) { o.Check, o.Pin = s.check, s.pin })
	source := simple + "pipeline:\n  nodes:\n    - {id: n, at: document, use: x/y@1.0.0}\n"
	w.create(source)
	one, err := w.Version(bg, "flow", 1)
	if err != nil || pinned(t, one) != a || one.Source != source {
		t.Fatalf("%+v, %v", one, err)
	}
	two, err := w.AddVersion(bg, "me", "flow", source+"max_pages: 7\n", "", 0)
	if err != nil || pinned(t, two) != a {
		t.Fatalf("%+v, %v", two, err)
	}
	s.digest = b
	if _, err := w.AddVersion(bg, "me", "flow", source+"max_pages: 8\n", "", 0); !isInvalid(err,
		"pipeline.nodes[0].digest") {
		t.Errorf("an edit takes what was put under the name meanwhile: %v", err)
	}
	if _, err := w.Restore(bg, "me", "flow", 1, ""); !isInvalid(err, "pipeline.nodes[0].digest") {
		t.Errorf("a restore takes what was put under the name meanwhile: %v", err)
	}
	if _, err := w.Start(bg, "me", "flow", workflow.Overrides{}); err == nil {
		t.Error("an execution begins with what was put under the name meanwhile")
	}
	s.digest = a
	x, err := w.Start(bg, "me", "flow", workflow.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	job, err := w.store.Job(bg, x.ID)
	if text, _ := json.Marshal(job.Pipeline); err != nil || !strings.Contains(string(text), a) {
		t.Errorf("the execution has %s, %v", text, err)
	}
}
