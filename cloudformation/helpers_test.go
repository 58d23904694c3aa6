package cloudformation_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"

	"slices"
	"strings"
)

// certificate of the studio's name.
const certificate = "arn:aws:acm:eu-central-1:123456789012:certificate/0123abcd-4567-89ab-cdef-0123456789ab"

// balanced is a cluster whose studio has a name and a load balancer, and people who sign in.
var balanced = map[string]string{"Studio": "on", "StudioName": "crawl.example.org", "StudioCertificate": certificate,
	"OidcIssuer": "https://login.example.org",
	"OidcClient": "whirlpool", "OidcRoles": "crawlers=operator,ops=admin"}

func sorted(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// neededActions are those of all resource types in the templates.
func neededActions(t *testing.T) []string {
	t.Helper()
	var types []string
	for _, path := range templates(t) {
		parsed, err := cfn.Parse([]byte(read(t, path)))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, r := range parsed.Resources {
			types = append(types, r.Type)
		}
	}
	needed, err := fakeaws.Needs(types)
	if err != nil {
		t.Fatal(err)
	}
	return needed
}
