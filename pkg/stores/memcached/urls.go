package memcached

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Epoch names the present life of a job by a text that no other job has, and no former job with the same id: for
// example its number with the time of its creation. It is called for every operation, so it should answer from memory.
// If it returns "" or an error, the cache is not used.
type Epoch func(ctx context.Context, job crawl.JobID) (string, error)

// urlsTTL is how long a claim is remembered.
const urlsTTL = 24 * time.Hour

// urlsKind names the format of the values: a byte for its version, and the id of the message that claimed.
const (
	urlsKind    = "u1"
	urlsVersion = 1
)

type urls struct {
	c     *Client
	next  crawl.URLSet
	epoch Epoch
}

// URLs puts the cache before a URL set.
func (c *Client) URLs(next crawl.URLSet, epoch Epoch) crawl.URLSet { return urls{c, next, epoch} }

// Claim implements crawl.URLSet. A task marked as a repeat may have been released since it was claimed, so the URL set
// itself is asked.
func (s urls) Claim(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	list []crawl.Task) ([]crawl.Claimed, error) {
	keys := s.keys(ctx, job, len(list), func(i int) weburl.URL { return list[i].URL })
	out, open := s.known(ctx, by, keys, len(list), func(i int) bool { return list[i].Repeat })
	if len(open) == 0 {
		return out, nil
	}
	answers, err := s.next.Claim(ctx, job, by, pick(list, open))
	if err != nil {
		return nil, err
	}
	value := encodeClaim(by)
	for i, place := range open {
		out[place] = answers[i]
		if answers[i] != crawl.Known && keys != nil {
			s.c.storeLater("urls", (*memcache.Client).Set, keys[place], value, urlsTTL)
		}
	}
	return out, nil
}

// Exclude implements crawl.URLSet.
func (s urls) Exclude(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	excl []crawl.Exclusion) ([]crawl.Claimed, error) {
	keys := s.keys(ctx, job, len(excl), func(i int) weburl.URL { return excl[i].URL })
	out, open := s.known(ctx, by, keys, len(excl), func(int) bool { return false })
	if len(open) == 0 {
		return out, nil
	}
	answers, err := s.next.Exclude(ctx, job, by, pick(excl, open))
	if err != nil {
		return nil, err
	}
	for i, place := range open {
		out[place] = answers[i]
	}
	return out, nil
}

// known answers for n URLs: Known if the cache has a claim by another message. open lists the indices of the others,
// and of those for which ask is true.
func (s urls) known(ctx context.Context, by crawl.MessageID, keys []string, n int,
	ask func(i int) bool) (out []crawl.Claimed, open []int) {
	var cached map[string]*memcache.Item
	if keys != nil {
		cached = s.c.get(ctx, "urls", keys...)
	}
	out = make([]crawl.Claimed, n)
	for i := range out {
		if keys != nil && !ask(i) && claimedByOther(cached[keys[i]], by) {
			out[i] = crawl.Known
		} else {
			open = append(open, i)
		}
	}
	return out, open
}

func claimedByOther(it *memcache.Item, by crawl.MessageID) bool {
	if it == nil {
		return false
	}
	claimer, ok := decodeClaim(it.Value)
	return ok && claimer != by
}

func pick[T any](list []T, places []int) []T {
	if len(places) == len(list) {
		return list
	}
	out := make([]T, len(places))
	for i, p := range places {
		out[i] = list[p]
	}
	return out
}

// keys are the keys of n URLs; nil where the cache is not to be used. A URL's key is a hash already.
func (s urls) keys(ctx context.Context, job crawl.JobID, n int, at func(i int) weburl.URL) []string {
	epoch, err := s.epoch(ctx, job)
	if err != nil || epoch == "" {
		return nil
	}
	prefix := s.c.key(urlsKind, string(job)+"\x00"+epoch) + ":"
	keys := make([]string, n)
	for i := range keys {
		k := at(i).Key()
		var b [128 + maxPrefix]byte
		keys[i] = string(base64.RawURLEncoding.AppendEncode(append(b[:0], prefix...), k[:]))
	}
	return keys
}

func encodeClaim(by crawl.MessageID) []byte { return append([]byte{urlsVersion}, by[:]...) }

// decodeClaim reads what encodeClaim made; ok is false for anything else.
func decodeClaim(value []byte) (by crawl.MessageID, ok bool) {
	if len(value) != 1+len(by) || value[0] != urlsVersion {
		return by, false
	}
	copy(by[:], value[1:])
	return by, !by.IsZero()
}
