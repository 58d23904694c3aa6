package jobfile

import (
	"reflect"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestRulesAreReadBack(t *testing.T) {
	rules := []crawl.SiteRule{
		{Name: "a: b", Host: "x.test", Match: `^https?://[^/]+/p/[0-9]+(?:[?#]|$)`,
			Links: []crawl.LinkWeight{{Match: "/p", Weight: 9}},
			Fields: []crawl.FieldRule{{Name: "price", CSS: `th:matchesOwn(^\s*Price "net"\s*:?\s*$) + td`, Regex: `€\s+(.+?)$`},
				{Name: "yes", XPath: "//a[@href='#']", Attr: "href", List: true, Type: "string"}}},
		{},
	}
	text, err := MarshalRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	job, err := Parse(text)
	if err != nil || !reflect.DeepEqual(job.Rules, rules) {
		t.Errorf("%v\n%s\n%+v", err, text, job.Rules)
	}
}
