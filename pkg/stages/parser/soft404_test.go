package parser

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A page that scripts may make is never taken for a soft 404: all pages of an application are one shell.
func TestAShellIsNoSoft404(t *testing.T) {
	u, err := weburl.Parse("http://a.test/item/12")
	if err != nil {
		t.Fatal(err)
	}
	home, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text, body string
		may        bool
	}{
		"a soft 404": {"There is no such page.",
			"<title>Not found</title><p>There is no such page.<a href=/>Home</a>", true},
		"an application": {"Loading …", "<div id=root>Loading …</div><script src=/app.js></script>", false},
		"a shell with a menu": {"Loading …",
			"<a href=/>Home</a><main id=item>Loading …</main><script src=/shop.js></script>", false},
		"one that asks for it": {"Please wait",
			"<noscript>Please enable JavaScript</noscript><p>Please wait<script src=/a.js></script>", false},
		"what is written later": {"Shop", "<a href=/>Shop</a><script>document.write(items[12])</script>", false},
	} {
		d := &crawl.Document{Page: crawl.Page{Task: crawl.Task{URL: u, Kind: crawl.KindPage}}, Text: c.text}
		d.Links = crawl.LinkList{{URL: home}}
		d.Page.Task.SetRepeated([]uint64{7})
		ofItsOwn(d, []byte(c.body))
		if may := d.Page.Task.IsRepeated(7); may != c.may {
			t.Errorf("%s may be a soft 404: %v, want %v", name, may, c.may)
		}
	}
}
