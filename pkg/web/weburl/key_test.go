package weburl

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestKeyIsStable: keys are stored, so a change of their definition must be a decision.
func TestKeyIsStable(t *testing.T) {
	const host, whole = "ca978112ca1bbdca", "282a35d7a0da6ae48eee116ad6193fa8" // of sha256sum for "a" and "http://a/"
	if got := mustParse(t, "http://a/").Key().String(); got != host+whole {
		t.Errorf("key of http://a/ is %s, want %s", got, host+whole)
	}
}

func TestKeysOfAHostAreNeighbours(t *testing.T) {
	one, two := mustParse(t, "http://a/1").Key(), mustParse(t, "https://a/2").Key()
	other, port := mustParse(t, "http://b/1").Key(), mustParse(t, "http://a:81/1").Key()
	if !bytes.Equal(one[:8], two[:8]) || one == two {
		t.Errorf("keys of one host: %s and %s", one, two)
	}
	if bytes.Equal(one[:8], other[:8]) || bytes.Equal(one[:8], port[:8]) {
		t.Errorf("keys of different hosts share their first bytes: %s, %s, %s", one, other, port)
	}
}

func TestTextRoundTrip(t *testing.T) {
	type pair struct {
		U URL
		K Key
		M map[URL]int
	}
	u := mustParse(t, "http://a/?b#c")
	in := pair{U: u, K: u.Key(), M: map[URL]int{u: 1}}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out pair
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	if out.U != in.U || out.K != in.K || out.M[u] != 1 {
		t.Errorf("%s came back as %+v", data, out)
	}
	if err := json.Unmarshal([]byte(`{"U":""}`), &out); err != nil || !out.U.IsZero() {
		t.Errorf("the empty text is %q, %v", out.U, err)
	}
	for _, broken := range []string{`{"U":"mailto:a"}`, `{"K":""}`, `{"K":"zz"}`, `{"K":"` + in.K.String()[:46] + `zz"}`} {
		before := out
		if err := json.Unmarshal([]byte(broken), &out); err == nil || out.U != before.U || out.K != before.K {
			t.Errorf("%s: %v, %+v", broken, err, out)
		}
	}
}
