package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// KeptBodies tests a store of kept bodies.
func KeptBodies(t *testing.T, open func(t *testing.T) crawl.KeptBodies) {
	ctx, k := context.Background(), open(t)
	large := make([]byte, 20<<20) // does not compress
	if _, err := rand.Read(large); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"empty": {}, "page": bytes.Repeat([]byte("<p>text"), 1000), "large": large} {
		d := crawl.Digest(sha256.Sum256(body))
		if _, found, err := k.Kept(ctx, "job", d); found || err != nil {
			t.Errorf("%s: found %v, %v before it was kept", name, found, err)
		}
		for range 2 {
			if err := k.Keep(ctx, "job", d, body); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		got, found, err := k.Kept(ctx, "job", d)
		if err != nil || !found || !bytes.Equal(got, body) {
			t.Errorf("%s: %d bytes, found %v, %v; want %d", name, len(got), found, err, len(body))
		}
	}
}
