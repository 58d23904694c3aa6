package postgres_test

import (
	"errors"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

func TestAgentsTellOfThemselvesAndAreTold(t *testing.T) {
	agents := openAt(t, newDatabase(t)).Agents()
	one := &postgres.Agent{ID: "fetcher@n.1", Node: "n", Program: "fetcher", Version: "v", Busy: 3,
		Workers: map[string]int{"fetcher": 2}}
	two, other := &postgres.Agent{ID: "fetcher@n.2", Node: "n", Program: "fetcher"}, &postgres.Agent{ID: "parser@n.3",
		Node: "n", Program: "parser"}
	beat := func(a *postgres.Agent, wish string, others int) postgres.Orders {
		t.Helper()
		o, err := agents.Beat(t.Context(), a)
		check(t, err)
		if o.Wish != wish || o.Others != others {
			t.Errorf("%s is told %q with %d others, want %q with %d", a.ID, o.Wish, o.Others, wish, others)
		}
		return o
	}
	beat(one, "", 0)
	beat(one, "", 0) // again: nothing new
	beat(two, "", 1)
	beat(other, "", 0) // another program
	check(t, agents.Configure(t.Context(), "workers.fetcher", "16", 2))
	check(t, agents.Configure(t.Context(), "workers.fetcher", "4", 1)) // late: it undoes nothing
	if o := beat(one, "", 0); o.Settings["workers.fetcher"] != "16" || o.Version != 2 {
		t.Errorf("the settings are %+v", o)
	}
	check(t, agents.Wish(t.Context(), one.ID, postgres.WishStop))
	beat(one, postgres.WishStop, 0)
	beat(two, "", 0) // who is stopped does nothing for others
	check(t, agents.Wish(t.Context(), one.ID, postgres.WishDrain))
	check(t, agents.Wish(t.Context(), one.ID, postgres.WishDrain)) // again: nothing new
	if err := agents.Wish(t.Context(), one.ID, postgres.WishWork); !errors.Is(err, postgres.ErrEnding) {
		t.Errorf("who is to end is asked to work: %v", err)
	}
	if err := agents.Wish(t.Context(), "none", postgres.WishStop); !errors.Is(err, postgres.ErrNoAgent) {
		t.Errorf("nobody is asked to stop: %v", err)
	}
	all, err := agents.All(t.Context())
	check(t, err)
	if len(all) != 3 || all[0].ID != one.ID || all[0].Wish != postgres.WishDrain || all[0].Busy != 3 ||
		all[0].Workers["fetcher"] != 2 || all[0].Seen.IsZero() {
		t.Errorf("the programs are %+v", all)
	}
	check(t, agents.Leave(t.Context(), one.ID))
	if all, err = agents.All(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("after one has left there are %d: %v", len(all), err)
	}
}
