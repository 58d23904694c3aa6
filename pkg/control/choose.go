package control

import (
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// ByID chooses the letters whose ids begin with one of the given, of a topic; all of them if none is given.
func ByID(topic string, ids ...string) Choose {
	return func(all []report.Letter) ([]report.Letter, error) {
		letters, err := chooseIDs(all, ids)
		if err == nil && topic != "" {
			letters = slices.DeleteFunc(slices.Clone(letters), func(l report.Letter) bool { return l.Topic != topic })
		}
		return letters, err
	}
}

func chooseIDs(all []report.Letter, ids []string) ([]report.Letter, error) {
	if len(ids) == 0 {
		return all, nil
	}
	chosen := []report.Letter{}
	for _, id := range ids {
		match := slices.DeleteFunc(slices.Clone(all), func(l report.Letter) bool {
			return !strings.HasPrefix(l.ID.String(), strings.ToLower(id))
		})
		// Nodes may have one each of one id.
		others := slices.ContainsFunc(match, func(l report.Letter) bool { return l.ID != match[0].ID })
		switch {
		case id == "" || len(match) == 0:
			return nil, Misusef("no dead letter has the id %q: `whirlpool replay --list` shows them", id)
		case others:
			return nil, Misusef("%d dead letters have an id that begins with %q: give more of it", len(match), id)
		case !slices.ContainsFunc(chosen, func(l report.Letter) bool { return l.ID == match[0].ID }):
			chosen = append(chosen, match...)
		}
	}
	return chosen, nil
}
