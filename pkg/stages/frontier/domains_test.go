package frontier_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// byDomain crawls subdomains of crowd.test and good hosts of domains of their own for a while, and counts the pages
// of both.
func byDomain(t *testing.T, subdomains, good, maxActive int) (crowd, others int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.cfg.MaxActive = maxActive
		w.begin()
		var tasks []crawl.Task
		for i := range 100 {
			for h := range subdomains {
				if i < 5 {
					tasks = append(tasks, page(t, "a", fmt.Sprintf("http://s%d.crowd.test/%d", h, i)))
				}
			}
			for h := range good {
				tasks = append(tasks, page(t, "a", fmt.Sprintf("http://h%d.test/%d", h, i)))
			}
		}
		w.add(tasks...)
		time.Sleep(60 * time.Second)
		w.stop()
		for _, r := range w.log {
			if strings.HasSuffix(r.host, ".crowd.test") {
				crowd++
			} else {
				others++
			}
		}
	})
	return crowd, others
}

// A domain does not get a larger share of a crawl by having more hosts.
func TestADomainHasItsShare(t *testing.T) {
	for _, maxActive := range []int{65_536, 400} {
		t.Run(fmt.Sprintf("%d active hosts", maxActive), func(t *testing.T) {
			crowd, others := byDomain(t, 1500, 30, maxActive)
			_, alone := byDomain(t, 0, 30, maxActive)
			t.Logf("%d pages of the crowd, %d of the others, which have %d alone", crowd, others, alone)
			if crowd > others || others < alone*9/10 {
				t.Errorf("%d pages of one domain with 1,500 hosts, %d of 30 others, which have %d alone", crowd, others, alone)
			}
			if crowd < 200 {
				t.Errorf("%d pages of the domain: it has less than a share", crowd)
			}
		})
	}
}

// Where there is no other domain nobody waits.
func TestADomainAloneHasAll(t *testing.T) {
	if crowd, _ := byDomain(t, 300, 0, 65_536); crowd != 1500 {
		t.Errorf("%d pages of 1,500 in a minute", crowd)
	}
}
