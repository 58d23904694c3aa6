package crawl_test

import (
	"bytes"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestValidatorsSurviveTheirEncoding(t *testing.T) {
	for _, v := range []crawl.Validators{{}, {ETag: `"a"`}, {LastModified: "yesterday"}, {ETag: `W/"\x00é"`, LastModified: "x"}} {
		got, err := crawl.DecodeValidators(crawl.AppendValidators(nil, &v))
		if err != nil || got != v {
			t.Errorf("kept %+v, got %+v, error %v", v, got, err)
		}
	}
	if v, err := crawl.DecodeValidators(nil); err != nil || !v.IsZero() {
		t.Errorf("of nothing: %+v, error %v", v, err)
	}
}

// A newer version keeps more with them: this one reads what it knows.
func TestValidatorsOfANewerVersion(t *testing.T) {
	newer := []byte{2 + 3 + 2 + 1, 1, 3, '"', 'a', '"', 200, 1, 0}
	if v, err := crawl.DecodeValidators(newer); err != nil || v.ETag != `"a"` {
		t.Errorf("got %+v, error %v", v, err)
	}
}

func FuzzValidators(f *testing.F) {
	f.Add(crawl.AppendValidators(nil, &crawl.Validators{ETag: `"a"`, LastModified: "b"}))
	f.Add([]byte{0})
	f.Add([]byte{3, 1, 9, 'x'})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := crawl.DecodeValidators(b)
		if err != nil {
			return
		}
		again, err := crawl.DecodeValidators(crawl.AppendValidators(nil, &v))
		if err != nil || again != v {
			t.Errorf("read %+v of %x, and again %+v, error %v", v, b, again, err)
		}
		if bytes.Contains(b, []byte(v.ETag)) == false {
			t.Errorf("%q does not stand in %x", v.ETag, b)
		}
	})
}
