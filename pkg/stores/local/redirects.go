package local

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Redirects is where URLs redirect to.
type Redirects struct{ s *Store }

var _ crawl.Redirects = Redirects{}

// Redirects returns where URLs redirect to.
func (s *Store) Redirects() Redirects { return Redirects{s} }

func makeRedirectKey(job jobNum, u weburl.URL) []byte {
	k := u.Key()
	return append(appendJob(nil, kindRedirect, job), k[:]...)
}

// Redirect implements crawl.Redirects.
func (r Redirects) Redirect(ctx context.Context, job crawl.JobID, from, to weburl.URL) error {
	number, err := r.s.jobs.number(ctx, job)
	if err == nil {
		err = r.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(makeRedirectKey(number, from), []byte(to.String()), nil) })
	}
	if err != nil {
		return fmt.Errorf("note where %s redirects to: %w", from, err)
	}
	return nil
}

// Target implements crawl.Redirects.
func (r Redirects) Target(_ context.Context, job crawl.JobID, from weburl.URL) (to weburl.URL, found bool, err error) {
	number, known := r.s.jobs.find(job)
	if !known {
		return to, false, nil
	}
	found, err = r.s.get(makeRedirectKey(number, from), func(v []byte) (err error) {
		to, err = weburl.ParseStored(v)
		return err
	})
	if err != nil {
		err = fmt.Errorf("where %s redirects to: %w", from, err)
	}
	return to, found, err
}
