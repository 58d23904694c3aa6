package marks

import "github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"

// IsShell reports whether a page is the empty shell of an application and nothing else: an element to be filled,
// scripts that may fill it, and hardly a word that people would see before.
func IsShell(u weburl.URL, body []byte) bool {
	r := reader{site: u.RegistrableDomain()}
	r.read(body)
	return r.mountEmpty && r.text < thinMount && (r.sources > 0 || r.asks)
}
