package mongo

import (
	"bytes"
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestHeadsReturnURLAndKey(t *testing.T) {
	s := open(t)
	for i := range 3 {
		put(t, s, page(t, i))
	}
	stray := document(page(t, 9), page(t, 9).FetchedAt, maxDocument)
	wrong := bytes.Replace(stray, []byte(idOf(page(t, 9).URL.Key())), []byte(idOf(page(t, 8).URL.Key())), 1)
	if _, err := s.collection(life{job: "job"}).InsertOne(context.Background(), wrong); err != nil {
		t.Fatal(err)
	}
	var last weburl.Key
	right, misfiled := 0, 0
	err := s.Job("job").Heads(context.Background(), func(k weburl.Key, h crawl.RecordHead) error {
		u := h.URL
		if h.Unsummed || h.Damaged != (k != u.Key()) {
			t.Errorf("%s: %+v", k, h)
		}
		if bytes.Compare(k[:], last[:]) <= 0 {
			t.Errorf("key %s after %s", k, last)
		}
		if last = k; k == u.Key() {
			right++
		} else if misfiled++; u != page(t, 9).URL {
			t.Errorf("%s stands under %s", u, k)
		}
		return nil
	})
	if err != nil || right != 3 || misfiled != 1 {
		t.Errorf("%d records under their own keys, %d under others', %v; want 3 and 1", right, misfiled, err)
	}
}
