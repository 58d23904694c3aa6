package parser

import "testing"

// What a page names without showing it is none of its assets.
func TestWhatIsNoAsset(t *testing.T) {
	const page = `<link rel=prefetch href=a><link rel=preload as=fetch href=b><link rel=preconnect href=//c.test>` +
		`<form action=d><button formaction=e></button></form><a href=f ping=g></a><link rel="preload stylesheet" href=yes.css>`
	links, _ := requisites([]byte(page), "text/html", mustURL(t, pageURL), 100)
	if len(links) != 1 || links[0].URL.Path() != "/dir/yes.css" {
		t.Errorf("%v", links)
	}
}
