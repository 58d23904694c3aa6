package crawl

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Revisit is a page that is visited again, and what is remembered of it between visits.
type Revisit struct {
	URL weburl.URL
	revisit.State
}

// HostHabits are what was learned of the pages of a host.
type HostHabits struct {
	Host uint64 // the first eight octets of the keys of its pages
	revisit.Habits
}

// Revisits remembers pages between their visits, in the order in which they are due.
type Revisits interface {
	// Put stores what is remembered of pages. It is durable when Put returns. A State of fewer visits than the one that is
	// stored changes nothing; one of as many replaces it, so what is told twice is stored once, and what was told later of
	// the same visit can be added. A page without Due is remembered, and not due: put it so once its task is in a queue.
	// Of several states of one page the last counts.
	Put(ctx context.Context, job JobID, rs ...Revisit) error
	// States answers for each key in order; the zero State where nothing is remembered.
	States(ctx context.Context, job JobID, keys ...weburl.Key) ([]revisit.State, error)
	// Due returns n pages at most whose bucket (revisit.Bucket) is that of a time or an earlier one, by bucket, and that
	// mine accepts; nil accepts all. It does not take them away: they are returned again until they are put with another
	// Due. What is put while it looks may be missing until the next call, and so may what is behind thousands of pages
	// that mine refuses.
	Due(ctx context.Context, job JobID, by time.Time, n int, mine func(weburl.URL) bool) ([]Revisit, error)
	// Each hands what is remembered of each page of a job to a function, in the order of the keys: the pages of a host
	// follow one another, for their keys begin with the same eight octets. It ends with the function's first error.
	Each(ctx context.Context, job JobID, each func(weburl.Key, revisit.State) error) error
	// Habits answers for each host in order what was learned of it; the zero Habits where that is nothing.
	Habits(ctx context.Context, job JobID, hosts ...uint64) ([]revisit.Habits, error)
	// PutHabits stores what was learned of hosts, each once, in place of what was stored of them.
	PutHabits(ctx context.Context, job JobID, hs ...HostHabits) error
	// Drop forgets pages.
	Drop(ctx context.Context, job JobID, keys ...weburl.Key) error
}

// SharedRevisits are those that several nodes have in common, each of which visits the pages of its own hosts.
type SharedRevisits interface {
	Revisits
	// EachURL is Each with the pages' URLs, which tell whose they are.
	EachURL(ctx context.Context, job JobID, each func(Revisit) error) error
}
