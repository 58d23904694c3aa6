package builtin_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/plugtest"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

var example = regexp.MustCompile("(?s)```yaml\n(\\{id[^\n]*\\})\n```\n```json\n(.*?)\n```")

// The examples of docs/plugins.md do what they say, and each node has one.
func TestExamplesOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := repo.Open(t.TempDir(), repo.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, m := range example.FindAllSubmatch(text, -1) {
		var node crawl.PluginNode
		if err := yaml.Unmarshal(m[1], &node); err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		shown[node.Use] = true
		for _, err := range repo.Check(t.Context(), source, &crawl.Pipeline{Nodes: []crawl.PluginNode{node}}) {
			t.Errorf("%s: %v", node.Use, err)
		}
		runExample(t, &node, m[2])
	}
	for _, d := range builtin.All() {
		if !shown[d.Use()] {
			t.Errorf("%s has no example", d.Use())
		}
	}
}

func runExample(t *testing.T, node *crawl.PluginNode, text []byte) {
	t.Helper()
	var e struct {
		Message, Answer json.RawMessage
		Body            string
	}
	m := plugtest.Empty(node.At)
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatalf("%s: %v", node.Use, err)
	}
	if err := json.Unmarshal(e.Message, m); err != nil {
		t.Fatalf("%s: %v", node.Use, err)
	}
	p, _ := builtin.Plugin(node.Use)
	i, err := p.Configure(t.Context(), node.At, node.With)
	if err != nil {
		t.Fatalf("%s: %v", node.Use, err)
	}
	a, err := i.Handle(t.Context(), &plugin.Call{Message: m, Body: func() []byte { return []byte(e.Body) }})
	if err != nil {
		t.Fatalf("%s: %v", node.Use, err)
	}
	got, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var x, y any
	if json.Unmarshal(got, &x) != nil || json.Unmarshal(e.Answer, &y) != nil || !reflect.DeepEqual(x, y) {
		t.Errorf("%s: the documentation says\n%s\nand it answers\n%s", node.Use, e.Answer, got)
	}
}
