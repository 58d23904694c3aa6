package jsonpointer_test

import (
	"encoding/json"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/jsonpointer"
)

// No digit of an id is lost.
func TestNumbersThatNoFloatHolds(t *testing.T) {
	for text, want := range map[string]string{
		`1.10`: `1.1`, `9007199254740991`: `9007199254740991`, `-7`: `-7`, `1e3`: `1000`, `1e300`: `1e+300`,
		`9007199254740993`:     `"9007199254740993"`,
		`-1234567890123456789`: `"-1234567890123456789"`,
		`1e400`:                `"1e400"`,
		`{"a": [18446744073709551615, 1, "x", {}]}`: `{"a":["18446744073709551615",1,"x",{}]}`,
	} {
		v, err := jsonpointer.Value([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, _ := json.Marshal(v); string(got) != want {
			t.Errorf("%s is read as %s, want %s", text, got, want)
		}
	}
	if v, err := jsonpointer.Value([]byte(`{"a"`)); err == nil {
		t.Errorf("half an object is read as %v", v)
	}
}
