package crawl_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func visited(etag, modified string) crawl.Visited {
	return crawl.Visited{Validators: crawl.Validators{ETag: etag, LastModified: modified}}
}

func parsed(t *testing.T, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestValidatorsSurviveTheirEncoding(t *testing.T) {
	again := &crawl.Task{Depth: 3, Kind: crawl.KindSitemap, Feed: true, Referrer: parsed(t, "http://a.test/")}
	for _, v := range []crawl.Visited{{}, visited(`"a"`, ""), visited("", "yesterday"), visited(`W/"\x00é"`, "x"),
		{Again: again}, {Validators: crawl.Validators{ETag: `"a"`}, Again: again}} {
		got, err := crawl.DecodeVisited(crawl.AppendVisited(nil, &v))
		if err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("kept %+v, got %+v, error %v", v, got, err)
		}
	}
	if v, err := crawl.DecodeVisited(nil); err != nil || !v.IsZero() {
		t.Errorf("of nothing: %+v, error %v", v, err)
	}
}

// A newer version keeps more with them: this one reads what it knows.
func TestValidatorsOfANewerVersion(t *testing.T) {
	newer := []byte{2 + 3 + 2 + 1, 1, 3, '"', 'a', '"', 200, 1, 0}
	if v, err := crawl.DecodeVisited(newer); err != nil || v.ETag != `"a"` {
		t.Errorf("got %+v, error %v", v, err)
	}
}

func FuzzValidators(f *testing.F) {
	f.Add(crawl.AppendVisited(nil,
		&crawl.Visited{Validators: crawl.Validators{ETag: `"a"`, LastModified: "b"}, Again: &crawl.Task{Depth: 2}}))
	f.Add([]byte{0})
	f.Add([]byte{3, 1, 9, 'x'})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := crawl.DecodeVisited(b)
		if err != nil {
			return
		}
		again, err := crawl.DecodeVisited(crawl.AppendVisited(nil, &v))
		if err != nil || !reflect.DeepEqual(again, v) {
			t.Errorf("read %+v of %x, and again %+v, error %v", v, b, again, err)
		}
		if bytes.Contains(b, []byte(v.ETag)) == false {
			t.Errorf("%q does not stand in %x", v.ETag, b)
		}
	})
}
