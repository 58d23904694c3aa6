package simulation

import (
	"context"
	"slices"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// records are the host records and budgets that all nodes share. They never fail.
type records struct {
	mu    sync.Mutex
	hosts map[string]crawl.Host
	spent []uint32 // URLs, by host
}

var (
	_ crawl.Hosts      = (*records)(nil)
	_ crawl.Budgets    = (*records)(nil)
	_ crawl.AttemptLog = noLog{}
)

func newRecords(hosts int) *records {
	return &records{hosts: map[string]crawl.Host{}, spent: make([]uint32, hosts)}
}

// Hosts implements crawl.Hosts.
func (r *records) Hosts(_ context.Context, keys ...string) ([]crawl.Host, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]crawl.Host, len(keys))
	for i, k := range keys {
		out[i] = r.hosts[k]
		out[i].Key, out[i].Origins = k, slices.Clone(out[i].Origins)
	}
	return out, nil
}

// PutHosts implements crawl.Hosts.
func (r *records) PutHosts(_ context.Context, hosts ...crawl.Host) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range hosts {
		h.Origins = slices.Clone(h.Origins)
		r.hosts[h.Key] = h
	}
	return nil
}

// Spend implements crawl.Budgets, of a host: its key is an h and the host's.
func (r *records) Spend(_ context.Context, _ crawl.JobID, key string, n, limit int) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	spent := &r.spent[hostNumber(key[1:])]
	granted := max(min(n, limit-int(*spent)), 0)
	*spent += uint32(granted)
	return granted, nil
}

// noLog is a log that nobody reads.
type noLog struct{}

// Append implements crawl.AttemptLog.
func (noLog) Append(context.Context, ...crawl.LogLine) error { return nil }
