package tryout

import (
	"context"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// memory is what the stages store during a trial, before what is stored already. It goes with the trial.
type memory struct {
	crawl.Memory
	stored Stored

	mu       sync.Mutex
	jars     map[string]crawl.Jar
	record   *crawl.Record
	unkept   string
	seen     crawl.Seen
	exchange *crawl.Exchange // the last
}

// Release is that of crawl.Bodies. The body stays: who tries a URL may want to see it.
func (m *memory) Release(context.Context, crawl.BodyRef) error { return nil }

// Robots implements crawl.RobotsStore.
func (m *memory) Robots(ctx context.Context, origin string) (crawl.Robots, bool, error) {
	r, found, err := m.Memory.Robots(ctx, origin)
	if err != nil || found || m.stored.Robots == nil {
		return r, found, err
	}
	if r, found, err = m.stored.Robots.Robots(ctx, origin); err != nil || !found || !time.Now().Before(r.Expires) {
		return crawl.Robots{}, false, err // the crawl would ask for it again
	}
	return r, true, nil
}

// Jar implements crawl.Jars.
func (m *memory) Jar(ctx context.Context, job crawl.JobID, site string) (crawl.Jar, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if jar, ok := m.jars[site]; ok || m.stored.Jars == nil {
		jar.Site = site
		return jar, nil
	}
	return m.stored.Jars.Jar(ctx, job, site)
}

// PutJar implements crawl.Jars.
func (m *memory) PutJar(_ context.Context, _ crawl.JobID, jar *crawl.Jar) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jars == nil {
		m.jars = map[string]crawl.Jar{}
	}
	put := *jar
	put.Version++
	m.jars[jar.Site] = put
	return put.Version, nil
}

// JarsSince implements crawl.Jars.
func (m *memory) JarsSince(context.Context, crawl.JobID, uint64, int) ([]crawl.Jar, error) {
	return nil, nil
}

// Write implements crawl.Archive.
func (m *memory) Write(_ context.Context, x *crawl.Exchange) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exchange = &crawl.Exchange{Method: x.Method, RequestHeader: x.RequestHeader, Proto: x.Proto, Status: x.Status,
		ResponseHeader: x.ResponseHeader}
	return nil
}

// lastExchange returns the head of the last request and its answer; nil: there was none.
func (m *memory) lastExchange() *crawl.Exchange {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.exchange
	m.exchange = nil
	return x
}

// Claim implements crawl.ContentSet, and claims nothing.
func (m *memory) Claim(ctx context.Context, fp crawl.Fingerprint, near int,
	confirm func(mine, theirs []byte) bool) (seen crawl.Seen, err error) {
	if m.stored.Copies != nil {
		seen, err = m.stored.Copies.Peek(ctx, fp, near, confirm)
	}
	m.seen = seen
	return seen, err
}

// pages keeps the record that would be stored.
type pages struct{ m *memory }

// Put implements crawl.Pages.
func (p pages) Put(_ context.Context, r *crawl.Record) error {
	p.m.record = r
	return nil
}

// Replace implements crawl.Pages.
func (p pages) Replace(ctx context.Context, r *crawl.Record) error { return p.Put(ctx, r) }

// Amend implements crawl.Pages. The stages of a trial amend nothing.
func (pages) Amend(context.Context, crawl.JobID, weburl.URL, int, func(*crawl.Record)) (bool, error) {
	return false, nil
}

// Note implements crawl.Unkept.
func (m *memory) Note(_ context.Context, _ crawl.JobID, _ weburl.URL, reason string) error {
	m.unkept = reason
	return nil
}

// Reasons implements crawl.Unkept.
func (m *memory) Reasons(_ context.Context, _ crawl.JobID, keys ...weburl.Key) ([]string, error) {
	return make([]string, len(keys)), nil
}

// Mark implements crawl.Pages.
func (pages) Mark(context.Context, crawl.JobID, weburl.URL, int, func(*crawl.Record)) (bool, error) {
	return false, nil
}
