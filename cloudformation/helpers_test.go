package cloudformation_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/cfn"
	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"

	"slices"
	"strings"
)

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
