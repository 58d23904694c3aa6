package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func pipelineChecker(t *testing.T) *workflow.Manager {
	t.Helper()
	f := &serveFlags{dir: t.TempDir()}
	plugins, err := repo.Open(filepath.Join(f.dir, "plugins"), repo.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	check, err := f.checker(plugins)
	if err != nil {
		t.Fatal(err)
	}
	return workflow.NewManager(nil, nil, workflow.Options{Check: check})
}

// A fault of a pipeline names its key, its line and the node, so that a canvas can show it there.
func TestFaultsOfAPipelineNameTheirNode(t *testing.T) {
	m := pipelineChecker(t)
	const head = "seeds: ['https://example.com/']\npipeline:\n  nodes:\n" +
		"    - {id: ok, at: record, use: builtin/lang@1, with: {keep: [en]}}\n"
	for node, want := range map[string]string{
		"{id: bad, at: record, use: builtin/sample@1, with: {share: 2}}":              "pipeline.nodes[1].with.share",
		"{id: bad, at: links, use: builtin/lang@1, with: {keep: [en]}}":               "pipeline.nodes[1].at",
		"{id: bad, at: record, use: builtin/none@1}":                                  "pipeline.nodes[1].use",
		"{id: bad, at: record, use: shop/price@1.0.0}":                                "pipeline.nodes[1].use",
		"{id: bad, at: record, use: builtin/lang@1, when: 'x +', with: {keep: [en]}}": "pipeline.nodes[1].when",
	} {
		c, err := m.Check(t.Context(), head+"    - "+node+"\n")
		if err != nil || len(c.Faults) != 1 || c.Faults[0].Key != want || c.Faults[0].Node != "bad" || c.Faults[0].Line != 5 {
			t.Errorf("%s: %+v, %v", node, c, err)
		}
	}
	if c, err := m.Check(t.Context(), head); err != nil || len(c.Faults) > 0 {
		t.Errorf("a good one: %+v, %v", c, err)
	}
}

// The samples that the composer offers are definitions without a fault.
func TestSamplesOfTheComposer(t *testing.T) {
	m := pipelineChecker(t)
	files, err := filepath.Glob("../../studio/src/samples/*.yml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.Check(t.Context(), string(text))
		if err != nil || len(c.Faults) > 0 || !strings.Contains(string(text), "pipeline:") {
			t.Errorf("%s: %+v, %v", f, c, err)
		}
	}
}
