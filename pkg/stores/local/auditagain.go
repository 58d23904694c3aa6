package local

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// openAgain prepares to read what is remembered of pages between their visits, beside the URLs; done ends it. Of a
// crawl that visits each URL once there is nothing.
func (a *audit) openAgain() (done func() error, err error) {
	from, to := a.bounds(kindRevisit)
	it, err := a.at.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return nil, err
	}
	if !it.First() {
		return func() error { return nil }, errors.Join(it.Error(), it.Close())
	}
	a.again = &it
	return it.Close, nil
}

// revisited reports whether a page is visited again. One that is not due must be on its way.
func (a *audit) revisited(p places, uk *urlKey) (again bool, err error) {
	if a.again == nil {
		return false, nil
	}
	key := makeRevisitKey(uk.job(), uk.key())
	if !a.again.SeekGE(key) || !bytes.Equal(a.again.Key(), key) {
		return false, a.again.Error()
	}
	s, err := revisit.DecodeState(a.again.Value())
	if err != nil {
		return false, fmt.Errorf("what is remembered of URL %s: %w", uk.key(), err)
	}
	a.Again++
	switch {
	case p.queue+p.journal+p.dead > 0:
		a.Visiting++
	case s.Due.IsZero() && !s.Gone:
		a.Forgotten++
		a.example("forgotten", uk.key())
	}
	return true, nil
}
