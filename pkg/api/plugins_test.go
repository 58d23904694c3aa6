package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

// somePlugins are the built-in ones, one that nobody vouches for, and a file that cannot be read.
type somePlugins struct{}

func (somePlugins) List(context.Context) (items []repo.Item, err error) {
	for _, d := range builtin.All() {
		items = append(items, repo.Item{Descriptor: d, Trust: repo.Trust{Level: repo.OwnCode, Usable: true}})
	}
	own := &plugin.Descriptor{Name: "shop/price", Version: "1.2.0", Tier: plugin.WASM, Summary: "Reads prices",
		Serves: []plugin.Serves{{Point: crawl.AtDocument, Adds: map[string]string{"price": "number"}}}}
	items = append(items, repo.Item{Descriptor: own, Digest: "sha256:9f",
		Trust: repo.Trust{Level: repo.Unsigned, Wants: "approve it"}})
	return items, errors.New("shop/old@1.0.0: its digest is another")
}

func (somePlugins) Figures(_ context.Context, id crawl.JobID) ([]chain.Figures, error) {
	return []chain.Figures{{Node: "lang", At: crawl.AtRecord, Use: "builtin/lang@1", Calls: 7, Dropped: 2,
		P50: 8 * time.Microsecond, P95: time.Millisecond, Errors: int64(len(id))}}, nil
}

func (somePlugins) Waiting(context.Context) (map[string]int, error) {
	return map[string]int{"parser": 3}, nil
}

func TestPluginsAreListed(t *testing.T) {
	w := newWorld(t)
	if a := w.ask(http.MethodGet, "/api/v1/plugins", ""); a.status != http.StatusNotFound {
		t.Errorf("a server without plug-ins says %d %s", a.status, a.body)
	}
	w.s.Plugins = somePlugins{}
	var list PluginList
	read(t, w.ask(http.MethodGet, "/api/v1/plugins", ""), &list)
	if len(list.Items) != len(builtin.All())+1 || len(list.Faults) != 1 {
		t.Fatalf("%d plug-ins, faults %v", len(list.Items), list.Faults)
	}
	for _, p := range list.Items {
		if p.Use == "" || len(p.Serves) == 0 || p.Config == nil || p.Trust.Level == "" || p.Summary == "" {
			t.Errorf("%+v", p)
		}
	}
	read(t, w.ask(http.MethodGet, "/api/v1/plugins?point=request", ""), &list)
	for _, p := range list.Items {
		if p.Use == "shop/price@1.2.0" || p.Use == "builtin/lang@1" {
			t.Errorf("%s does not serve requests", p.Use)
		}
	}
	var one Plugin
	read(t, w.ask(http.MethodGet, "/api/v1/plugins/shop/price/1.2.0", ""), &one)
	if one.Digest != "sha256:9f" || one.Trust.Usable || one.Trust.Wants == "" || one.Serves[0].Adds["price"] != "number" {
		t.Errorf("%+v", one)
	}
	if a := w.ask(http.MethodGet, "/api/v1/plugins/shop/price/9.9.9", ""); a.status != http.StatusNotFound ||
		!strings.Contains(a.body, "shop/price@9.9.9") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestFiguresOfAPipeline(t *testing.T) {
	w := newWorld(t)
	w.s.Plugins = somePlugins{}
	var now PipelineNow
	read(t, w.ask(http.MethodGet, "/api/v1/executions/w-1/pipeline", ""), &now)
	if len(now.Nodes) != 1 || now.Nodes[0].P95 != 1000 || now.Nodes[0].Calls != 7 || now.Waiting["parser"] != 3 {
		t.Errorf("%+v", now)
	}
	if a := w.ask(http.MethodGet, "/api/v1/executions/nobody-1/pipeline", ""); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func read(t *testing.T, a got, to any) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), to); err != nil {
		t.Fatal(err)
	}
}
