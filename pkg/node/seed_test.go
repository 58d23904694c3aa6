package node_test

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// desk is a ledger that knows nothing, the robots.txt files of another job, and a bus that keeps what is published.
type desk struct {
	crawl.Ledger
	files     map[string]crawl.Robots
	published []crawl.Event
}

func (d *desk) Lookup(_ context.Context, _ crawl.JobID, keys ...weburl.Key) ([]crawl.Entry, error) {
	return make([]crawl.Entry, len(keys)), nil
}

func (d *desk) Robots(_ context.Context, origin string) (crawl.Robots, bool, error) {
	r, ok := d.files[origin]
	return r, ok, nil
}

func (d *desk) PutRobots(context.Context, crawl.Robots) error { return nil }

func (d *desk) Publish(_ context.Context, msgs ...bus.Message) error {
	for _, m := range msgs {
		d.published = append(d.published, m.Event)
	}
	return nil
}

func (d *desk) Consume(context.Context, string, bus.Workers, bus.Handler) error { return nil }

func TestASecondJobOfAHostReadsItsSitemaps(t *testing.T) {
	file := crawl.Robots{Origin: "http://a.test", Body: []byte("Sitemap: http://a.test/map.xml\n")}
	closed := file
	closed.State = crawl.RobotsDisallowAll
	for name, tt := range map[string]struct {
		files    map[string]crawl.Robots
		sitemaps bool
		want     int
	}{
		"its rules are unknown":         {sitemaps: true},
		"another job has fetched them":  {files: map[string]crawl.Robots{file.Origin: file}, sitemaps: true, want: 1},
		"the job reads no sitemaps":     {files: map[string]crawl.Robots{file.Origin: file}},
		"they could not be had":         {files: map[string]crawl.Robots{file.Origin: closed}, sitemaps: true},
		"they are those of another one": {files: map[string]crawl.Robots{"http://b.test": file}, sitemaps: true},
	} {
		t.Run(name, func(t *testing.T) {
			job := crawl.DefaultJob()
			job.ID, job.Seeds, job.Sitemaps = "j", []string{"http://a.test/1", "http://a.test/2"}, tt.sitemaps
			d := &desk{files: tt.files}
			n, err := node.Seed(context.Background(), d, d, d, &job)
			if err != nil || n != 2 {
				t.Fatalf("%d seeds, %v", n, err)
			}
			got := 0
			for _, e := range d.published {
				if l, ok := e.(*crawl.Links); ok {
					got += len(l.Links)
					if l.Links[0].Tag != crawl.TagSitemapIndex || l.Links[0].URL.String() != "http://a.test/map.xml" {
						t.Errorf("link %+v", l.Links[0])
					}
				}
			}
			if got != tt.want {
				t.Errorf("%d sitemaps named, want %d", got, tt.want)
			}
		})
	}
}
