package experiment

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Fetched is a page of a crawl.
type Fetched struct {
	Host  string
	At    float64 // seconds since the first
	Bytes int64
}

// Harvest cuts a crawl of so many seconds into parts, and says what each brought.
func Harvest(pages []Fetched, seconds float64, parts int) Table {
	t := Table{Name: "harvest", Label: "seconds", Title: fmt.Sprintf("Harvest of %.0f seconds", seconds),
		Columns: []Column{{Name: "pages"}, {Name: "bytes", Unit: "MB", Digits: 1}, {Name: "pages so far", Drawn: true},
			{Name: "bytes so far", Unit: "MB", Digits: 1, Drawn: true}}}
	count, size := make([]float64, parts), make([]float64, parts)
	for _, p := range pages {
		i := min(max(int(p.At/seconds*float64(parts)), 0), parts-1)
		count[i]++
		size[i] += float64(p.Bytes) / 1e6
	}
	pagesSoFar, sizeSoFar := 0.0, 0.0
	for i := range parts {
		pagesSoFar, sizeSoFar = pagesSoFar+count[i], sizeSoFar+size[i]
		t.Add(fmt.Sprintf("to %.0f", seconds*float64(i+1)/float64(parts)), count[i], size[i], pagesSoFar, sizeSoFar)
	}
	return t
}

// Spread says which agents a ring gives the pages of a crawl to, for clusters of so many agents.
func Spread(pages []Fetched, agents []int) (Table, error) {
	t := Table{Name: "spread", Label: "agents", Title: "Spread of the same pages between agents on a ring",
		Columns: []Column{{Name: "hosts of an agent"}, {Name: "pages of the fullest", Digits: 0},
			{Name: "pages of the emptiest", Digits: 0}, {Name: "hosts, spread about the mean", Unit: "%", Digits: 1,
				Drawn: true}, {Name: "pages, spread about the mean", Unit: "%", Digits: 1, Drawn: true}},
		Notes: []string{"Computed with the table that nodes use, from the hosts of the pages that were fetched: no agents " +
			"ran."}}
	byHost := map[string]float64{}
	for _, p := range pages {
		byHost[p.Host]++
	}
	for _, n := range agents {
		table, err := ring.Create(n*ring.PerUnit, ring.ByHost, 1)
		for i := 0; i < n && err == nil; i++ {
			table, err = table.Join(member(i))
		}
		if err != nil {
			return t, fmt.Errorf("%d agents: %w", n, err)
		}
		hosts, counts := map[string]float64{}, map[string]float64{}
		for host, pages := range byHost {
			owner, err := table.Owner(host)
			if err != nil {
				return t, err
			}
			hosts[owner.Name]++
			counts[owner.Name] += pages
		}
		_, _, hostSpread := about(hosts, n)
		least, most, pageSpread := about(counts, n)
		t.Add(fmt.Sprint(n), float64(len(byHost))/float64(n), most, least, hostSpread, pageSpread)
	}
	return t, nil
}

// about returns the least and the most of n agents, and the larger distance of the two from the mean, in % of it. Who
// is not in by has nothing.
func about(by map[string]float64, n int) (least, most, spread float64) {
	sum := 0.0
	for _, v := range by {
		if most < v {
			most = v
		}
		if sum == 0 || v < least {
			least = v
		}
		sum += v
	}
	if len(by) < n {
		least = 0
	}
	if sum == 0 {
		return 0, 0, 0
	}
	mean := sum / float64(n)
	return least, most, 100 * max(most-mean, mean-least) / mean
}
