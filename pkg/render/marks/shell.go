package marks

import (
	"bytes"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// IsShell reports whether a page is the empty shell of an application and nothing else: an element to be filled,
// scripts that may fill it, and hardly a word that people would see before. Or it has a script alone that leads on to
// where the application is, as the 404.html of many sites of GitHub Pages has (/item/1 to /?/item/1). One that says
// itself that it was not found, as those that a generator of sites made for that, is none.
func IsShell(u weburl.URL, body []byte) bool {
	r := reader{site: u.RegistrableDomain()}
	r.read(body)
	return !r.missing && (r.text < thinMount && r.mountEmpty && (r.sources > 0 || r.asks) || r.text == 0 && r.leads)
}

// words notes a text that people see, or that is the title.
func (r *reader) words(text []byte, inTitle bool) {
	if !inTitle {
		r.text += len(bytes.TrimSpace(text))
	}
	if r.text < thinMount && !r.missing { // otherwise it is no shell in any case
		r.missing = contains(bytes.ToLower(text), "404", "not found")
	}
}
