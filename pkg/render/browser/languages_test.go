//go:build linux

package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{"": "en-US", "*": "en-US", "de": "de",
		"en;q=0.5, de-AT,*;q=0.1": "de-AT en",
		"no language at all":      "en-US", "fr , zh-Hant-TW;q=0.2": "fr zh-Hant-TW"} {
		if got := strings.Join(languages(accept), " "); got != want {
			t.Errorf("%q: %s, want %s", accept, got, want)
		}
	}
}

// Scripts see the languages that the job asks for, each job its own.
func TestScriptsSeeTheLanguagesOfTheJob(t *testing.T) {
	t.Parallel()
	c := started(t, Config{})
	body := []byte(`<body><script>for(const l of [navigator.language,navigator.languages.join('_'),1.5.toLocaleString()])
		document.body.innerHTML+='<a href=/'+l+'>l</a>'</script>`)
	for _, step := range [][]string{{"de;q=0.9,en;q=0.5", "de", "de_en", "1,5"}, {"", "en-US", "en-US", "1.5"},
		{"fr-CA,fr", "fr-CA", "fr-CA_fr", "1,5"}} {
		got := (&site{}).settles(t, c, render.Request{Body: body, Languages: step[0], Seed: true})
		var want []string
		for _, l := range slices.Compact(step[1:]) {
			want = append(want, "http://www.a.test/"+l)
		}
		if !slices.Equal(got.Links, want) {
			t.Errorf("%q: links %q, want %q", step[0], got.Links, want)
		}
	}
}
