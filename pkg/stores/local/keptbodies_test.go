package local

import (
	"crypto/sha256"
	"errors"
	"os"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

func TestKeptBodies(t *testing.T) {
	storetest.KeptBodies(t, func(t *testing.T) crawl.KeptBodies { return KeptBodiesIn(t.TempDir()) })
}

func TestADamagedBodyIsAnError(t *testing.T) {
	k, body := KeptBodiesIn(t.TempDir()), []byte("a page")
	d := crawl.Digest(sha256.Sum256(body))
	if err := k.Keep(t.Context(), "", d, body); err != nil {
		t.Fatal(err)
	}
	other, err := codec.PackBody([]byte("another page"))
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{[]byte("rubbish"), {}, other} {
		if err := os.WriteFile(k.file(d), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, found, err := k.Kept(t.Context(), "", d); !found || !errors.Is(err, codec.ErrBody) {
			t.Errorf("%q: found %v, %v", content, found, err)
		}
	}
}
