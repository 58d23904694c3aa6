package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// The composer's list of a cluster has what comes with the program and what was pushed, and the pipeline of an
// execution shows what its nodes did in the programs.
func TestPluginsOfACluster(t *testing.T) {
	w := newWorld(t)
	registry := "oci+http://" + servicetest.StartRegistry(t, "", "").Address + "/plugins"
	w.env = append(w.env, "WHIRLPOOL_PLUGINS_STORE=postgres", "WHIRLPOOL_PLUGINS_DIR="+filepath.Join(w.dir, "plugins"),
		"WHIRLPOOL_PLUGINS_REGISTRY="+registry, "DOCKER_CONFIG="+t.TempDir())
	_, c := w.copyOf("one")
	named := func() (names []string) {
		list, err := c.Plugins(t.Context())
		harness.Check(t, err)
		for i := range list.Items {
			names = append(names, list.Items[i].Use)
		}
		if len(list.Faults) > 0 {
			t.Errorf("not read: %q", list.Faults)
		}
		return names
	}
	if got := named(); !slices.Contains(got, "builtin/filter@1") || slices.Contains(got, "shop/v@1.0.0") {
		t.Errorf("before a push there are %q", got)
	}
	plugin := func(args ...string) string {
		cmd := exec.Command(filepath.Join(w.exes, "whirlpool"), append([]string{"plugin"}, args...)...)
		cmd.Env = slices.Concat(w.env, []string{"WHIRLPOOL_API_KEY=" + adminKey})
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("plugin %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	pushed := plugin("push", "--untested", "--server", c.Server(), wasmtest.Version(t, "shop/v@1.0.0", "1.0.0"))
	if !strings.Contains(pushed, "crawls cannot use it yet") {
		t.Errorf("pushing says %s", pushed)
	}
	if got := named(); !slices.Contains(got, "shop/v@1.0.0") {
		t.Errorf("after a push there are %q", got)
	}
	if _, err := c.CreateWorkflow(t.Context(), api.NewWorkflow{Source: plugged(t, 1), Slug: "soon"}); err == nil ||
		!strings.Contains(err.Error(), "may not be used") {
		t.Errorf("a workflow with what nobody approved: %v", err)
	}
	for _, where := range [][]string{{"--server", c.Server()}, {"--cluster"}} { // both say the same of it
		plugin(append([]string{"approve", "shop/v@1.0.0"}, where...)...)
		if shown := plugin(append([]string{"show", "shop/v@1.0.0"}, where...)...); !strings.Contains(shown,
			"trust    approved, by ") {
			t.Errorf("%q shows %s", where, shown)
		}
	}
	plugin("publish", "--untested", wasmtest.Version(t, "shop/far@1.0.0", "1.0.0"), registry)
	if approved := plugin("approve", "shop/far@1.0.0", "--server", c.Server()); !strings.Contains(approved, "sha256:") {
		t.Errorf("approving what only the registry has says %s", approved)
	}
	if got := named(); !slices.Contains(got, "shop/far@1.0.0") {
		t.Errorf("after it was taken from the registry there are %q", got)
	}
	w.start("node", "whirlpool", []string{"node"}, nil)
	const pages = 13
	_, err := c.CreateWorkflow(t.Context(), api.NewWorkflow{Source: plugged(t, pages), Slug: "plugged"})
	harness.Check(t, err)
	e, err := c.Run(t.Context(), "plugged", workflow.Overrides{})
	harness.Check(t, err)
	ends(t, c, *e, pages)
	var now *api.PipelineNow
	if !harness.Within(patience, func() bool { // a program tells of itself each five seconds
		now, err = c.Pipeline(t.Context(), e.ID)
		harness.Check(t, err)
		return len(now.Nodes) == 1 && now.Nodes[0].Calls == pages
	}) {
		t.Fatalf("the pipeline is shown as %+v", now)
	}
	n := now.Nodes[0]
	if waits, known := now.Waiting["parser"]; n.Node != "v" || n.Use != "shop/v@1.0.0" || n.At != "document" ||
		n.Patched != pages || n.Errors != 0 || n.P95 == 0 || !known || waits != 0 {
		t.Errorf("the pipeline is shown as %+v", now)
	}
}

// plugged is the definition of a crawl of a new site with a plug-in.
func plugged(t *testing.T, pages int) string {
	t.Helper()
	return fmt.Sprintf("{id: plugged, seeds: [%s/], allow_private: true, ignore_robots: true, sitemaps: false, "+
		"politeness: {delay: 0s}, pipeline: {nodes: [{id: v, at: document, use: shop/v@1.0.0}]}}", site(t, pages))
}
