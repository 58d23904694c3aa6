package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// On a cluster documents are opened, bodies kept and rules applied again as in a directory, and deleted with the job.
func TestDocumentsAndBodiesOnACluster(t *testing.T) {
	c := newCluster(t)
	c.startNode()
	home, asked := shop(t)
	pdf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		if r.URL.Path == "/" {
			fmt.Fprint(w, smallPDF)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(pdf.Close)
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		fmt.Fprint(w, "no PDF")
	}))
	t.Cleanup(locked.Close)
	job := write(t, "job.yml", fmt.Sprintf("id: shop\nseeds: ['%s/', '%s/', '%s/']\nscope: host\nkeep_bodies: true\n"+
		"sitemaps: false\nnear_duplicate: -1\npoliteness: {delay: 0s}\nmedia_types: [text/html, application/pdf]\n%s", home,
		pdf.URL, locked.URL, oldRules))
	c.must("seed", "--cluster", "-c", job)
	c.must("status", "--cluster", "--wait")
	if out := c.must("export", "--cluster", "--format", "jsonl"); !strings.Contains(out, "A text in a PDF") {
		t.Errorf("the text of the PDF file is not among the records:\n%s\nnode:\n%s", out, c.log.String())
	}
	if out := c.must("explain", "--cluster", locked.URL+"/"); !strings.Contains(out, "[document-broken]") {
		t.Errorf("explain: %s", out)
	}
	requests, rules := asked.Load(), write(t, "new.yml", newRules)
	for _, want := range []string{"12 pages: 10 amended, 2 as the rules have them, 0 without",
		"12 pages: 0 amended, 12 as the rules have them"} {
		if out := c.must("extract", "-c", rules, "--cluster"); !strings.Contains(out, want) {
			t.Errorf("extract: %s, want %s", out, want)
		}
	}
	if out := c.must("export", "--cluster", "--format", "jsonl"); !strings.Contains(out, `"price":7.5`) &&
		!strings.Contains(out, `"value":7.5`) || asked.Load() != requests {
		t.Errorf("after %d requests more the records are\n%s", asked.Load()-requests, out)
	}
	c.must("audit", "--cluster")
	if n, err := c.pages.Collection("bodies_shop").CountDocuments(context.Background(), bson.D{}); n != 12 || err != nil {
		t.Errorf("%d bodies are kept, %v; want 12", n, err)
	}
	c.must("delete", "--cluster", "shop")
	if n, err := c.pages.Collection("bodies_shop").CountDocuments(context.Background(), bson.D{}); n != 0 || err != nil {
		t.Errorf("%d bodies are left, %v", n, err)
	}
}
