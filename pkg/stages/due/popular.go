package due

import (
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxPopular is how many hosts' links are counted. Where there are more, all counts are halved, and hosts that had
// one go.
const maxPopular = 1 << 16

// popular counts the links to hosts from other hosts, for jobs that ask for it. The DUE of the node that owns a host
// sees all of them. A restart forgets the counts; tasks that are queued carry them.
type popular struct {
	mu    sync.Mutex
	links map[string]int
}

// count counts the links of a batch, and tells the tasks of their hosts' counts.
func (p *popular) count(job *crawl.Job, tasks []crawl.Task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links == nil {
		p.links = map[string]int{}
	}
	for i := range tasks {
		t := &tasks[i]
		key := string(job.ID) + " " + t.URL.HostKey()
		if from := t.Referrer; from != (weburl.URL{}) && from.HostKey() != t.URL.HostKey() {
			p.links[key]++
		}
		t.HostLinks = p.links[key]
		if t.Kind == crawl.KindPage && !t.Seed {
			t.Priority = job.Politeness.PopularPriority(max(t.Priority, crawl.MinPriority), t.HostLinks)
		}
	}
	if len(p.links) > maxPopular {
		for host, n := range p.links {
			if p.links[host] = n / 2; n < 2 {
				delete(p.links, host)
			}
		}
	}
}
