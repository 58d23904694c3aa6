package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestFingerprintsComeInTheOrderOfTheirKeysWithTheirOriginals(t *testing.T) {
	s, ctx := open(t), context.Background()
	u := manyURLs(t, 0, 300, 20)
	content := s.ContentSet()
	for i, u := range u {
		_, err := content.Claim(ctx, crawl.Fingerprint{Job: job, URL: u, Digest: crawl.Digest{byte(i % 100), 1}}, -1, nil)
		check(t, err)
	}
	var last weburl.Key
	n, copies := 0, 0
	check(t, content.Each(ctx, job, func(k weburl.Key, f crawl.StoredFingerprint) error {
		if k != f.URL.Key() || n > 0 && bytes.Compare(k[:], last[:]) <= 0 {
			t.Errorf("key %s of %s after %s", k, f.URL, last)
		}
		if original := f.Sameness == crawl.Original; original != f.Of.IsZero() {
			t.Errorf("%s is %v of %q", f.URL, f.Sameness, f.Of)
		} else if !original {
			copies++
		}
		one, found, err := content.Fingerprint(ctx, job, k)
		if err != nil || !found || one != f {
			t.Errorf("alone %+v, %v; in the walk %+v", one, err, f)
		}
		last, n = k, n+1
		return nil
	}))
	if n != 300 || copies != 200 {
		t.Errorf("%d fingerprints, %d copies; want 300 and 200", n, copies)
	}
	stop := errors.New("enough")
	if err := content.Each(ctx, job, func(weburl.Key, crawl.StoredFingerprint) error { return stop }); !errors.Is(err,
		stop) {
		t.Errorf("ended by %v", err)
	}
	check(t, content.Each(ctx, "nobody", func(weburl.Key, crawl.StoredFingerprint) error { return stop }))
}

func TestHostsAreCounted(t *testing.T) {
	s, ctx := open(t), context.Background()
	check(t, s.Hosts().PutHosts(ctx, crawl.Host{Key: "a.test"}, crawl.Host{Key: "b.test"}, crawl.Host{Key: "a.test"}))
	if n, err := s.Hosts().Count(ctx); err != nil || n != 2 {
		t.Errorf("%d hosts, %v; want 2", n, err)
	}
}
