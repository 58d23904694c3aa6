package report

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func urlOf(t *testing.T, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func linking(t *testing.T, page string, to ...string) []byte {
	t.Helper()
	r := &crawl.Record{URL: urlOf(t, page), FinalURL: urlOf(t, page), Status: 200}
	for _, u := range to {
		r.Links = append(r.Links, crawl.Link{URL: urlOf(t, u), Tag: "a"})
	}
	return jsonl.AppendRecord(nil, r)
}

// A page counts once for what it links to, however often; links from elsewhere are told apart.
func TestCountHits(t *testing.T) {
	lines := bytes.Join([][]byte{linking(t, "https://a.example.com/1", "https://b.example.com/x",
		"https://b.example.com/x", "https://b.example.com/y"),
		linking(t, "https://b.example.com/x", "https://b.example.com/y", "https://other.test/"),
		linking(t, "https://c.test/", "https://b.example.com/x")}, nil)
	for by, want := range map[HitsBy]string{
		ByHost:   "[{b.example.com 3 2 0 1} {other.test 1 1 0 0}]",
		ByDomain: "[{example.com 3 1 0 2} {other.test 1 1 0 0}]",
		ByURL:    "[{https://b.example.com/x 2 2 0 1} {https://b.example.com/y 2 1 0 0} {https://other.test/ 1 1 0 0}]",
	} {
		h, err := CountHits(bytes.NewReader(lines), by, 10)
		if err != nil || fmt.Sprint(h.Top) != want || h.Pages != 3 {
			t.Errorf("%s: %v, %v; want %s", by, h, err, want)
		}
	}
	if _, err := CountHits(bytes.NewReader(lines), "path", 10); err == nil {
		t.Error("by something else")
	}
}

// With more keys than there is room for, none of the most linked is missing, and counts are too high by what is told.
func TestCountHitsInLittleRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var lines []byte
	exact := map[string]int64{}
	for page := range 2000 {
		to := []string{fmt.Sprintf("https://rare%d.test/", rng.IntN(4000))}
		for i := range 10 {
			if rng.IntN(10+i) < 6 {
				to = append(to, fmt.Sprintf("https://often%d.test/", i))
			}
		}
		for _, u := range to {
			exact[urlOf(t, u).HostKey()]++
		}
		lines = append(lines, linking(t, fmt.Sprintf("https://p.test/%d", page), to...)...)
	}
	h, err := countHits(bytes.NewReader(lines), ByHost, 10, 100)
	if err != nil || h.Keys != 0 || len(h.Top) != 10 {
		t.Fatalf("%+v, %v", h, err)
	}
	for _, hit := range h.Top {
		if hit.Hits < exact[hit.Key] || hit.Hits-hit.Error > exact[hit.Key] || exact[hit.Key] < 500 {
			t.Errorf("%+v: there are %d", hit, exact[hit.Key])
		}
	}
}

// The clusters are those that comparing each page with each finds.
func TestNearClusters(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var hashes []uint64
	jobs := make([][]byte, 3)
	for i := range 600 {
		h := rng.Uint64()
		if len(hashes) > 0 && rng.IntN(2) == 0 { // near to one before, or just beyond
			h = hashes[rng.IntN(len(hashes))]
			for range rng.IntN(6) {
				h ^= 1 << rng.IntN(64)
			}
		}
		hashes = append(hashes, h)
		u := urlOf(t, fmt.Sprintf("https://j%d.test/%d", i%3, i))
		jobs[i%3] = jsonl.AppendRecord(jobs[i%3], &crawl.Record{URL: u, FinalURL: u, Status: 200, Simhash: h})
	}
	n, err := NewNear(3)
	if err != nil {
		t.Fatal(err)
	}
	var added []uint64
	for k, lines := range jobs {
		if err := n.Add(fmt.Sprint("job", k), bytes.NewReader(lines)); err != nil {
			t.Fatal(err)
		}
		for i := k; i < len(hashes); i += 3 {
			added = append(added, hashes[i])
		}
	}
	parent := make([]int32, len(added))
	for i := range parent {
		parent[i] = int32(i)
	}
	for i := range added {
		for j := range i {
			if bits.OnesCount64(added[i]^added[j]) <= 3 {
				join(parent, int32(i), int32(j))
			}
		}
	}
	sizes := map[int32]int{}
	for i := range added {
		sizes[rootOf(parent, int32(i))]++
	}
	want := 0
	for _, size := range sizes {
		if size > 1 {
			want++
		}
	}
	got, pages := n.Clusters(false, 1000, 1000), 0
	for i := range got {
		pages += got[i].Size
	}
	if len(got) != want || want < 20 {
		t.Errorf("%d clusters with %d pages, want %d", len(got), pages, want)
	}
	for _, c := range n.Clusters(true, 1000, 3) {
		if c.Jobs < 2 || len(c.Pages) > 3 || c.Pages[0].Job == c.Pages[1].Job {
			t.Errorf("across jobs: %+v", c)
		}
	}
	if _, err := NewNear(4); err == nil {
		t.Error("four bits")
	}
}
