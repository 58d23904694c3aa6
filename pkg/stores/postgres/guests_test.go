package postgres_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

func TestHostsAreHeld(t *testing.T) {
	g := openAt(t, newDatabase(t)).Guests()
	want := func(keys ...string) {
		t.Helper()
		if held, err := g.HeldHosts(t.Context()); err != nil || !slices.Equal(held, keys) {
			t.Errorf("%q are held, %v; want %q", held, err, keys)
		}
	}
	want()
	check(t, g.HoldHost(t.Context(), "b.test:80"))
	check(t, g.HoldHost(t.Context(), "a.test:80"))
	check(t, g.HoldHost(t.Context(), "a.test:80")) // again: nothing new
	want("a.test:80", "b.test:80")
	check(t, g.ReleaseHost(t.Context(), "b.test:80"))
	check(t, g.ReleaseHost(t.Context(), "c.test:80"))
	want("a.test:80")
}

func TestATurnIsAnsweredOnce(t *testing.T) {
	url := newDatabase(t)
	g := openAt(t, url).Guests()
	id, err := g.Ask(t.Context(), json.RawMessage(`{"url": "http://a.test/"}`))
	check(t, err)
	step := func(want postgres.GuestStep, node string) postgres.GuestTurn {
		t.Helper()
		turn, err := g.Look(t.Context(), id)
		check(t, err)
		if turn.Step != want || turn.Node != node || turn.Gone {
			t.Errorf("the turn is %+v; want step %d by %q", turn, want, node)
		}
		return turn
	}
	answer := func(step postgres.GuestStep, node string, want bool) {
		t.Helper()
		if first, err := g.Answer(t.Context(), id, step, node, json.RawMessage(`{"addr": "1.2.3.4"}`)); err != nil ||
			first != want {
			t.Errorf("the answer of %s counts: %v, %v; want %v", node, first, err, want)
		}
	}
	step(postgres.GuestAsked, "")
	answer(postgres.GuestGiven, "one", true)
	answer(postgres.GuestRefused, "two", false)
	if turn := step(postgres.GuestGiven, "one"); string(turn.Answer) != `{"addr": "1.2.3.4"}` || turn.Outcome != nil {
		t.Errorf("given: %s, %s", turn.Answer, turn.Outcome)
	}
	check(t, g.End(t.Context(), id, json.RawMessage(`{"slow": true}`)))
	check(t, g.End(t.Context(), id, nil)) // late
	if turn := step(postgres.GuestEnded, "one"); string(turn.Outcome) != `{"slow": true}` {
		t.Errorf("ended: %s", turn.Outcome)
	}

	late, err := g.Ask(t.Context(), json.RawMessage(`{}`))
	check(t, err)
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), "UPDATE guest_turns SET beat = beat - interval '1 minute' WHERE id = $1", late)
	check(t, err)
	if first, err := g.Answer(t.Context(), late, postgres.GuestGiven, "one", nil); err != nil || first {
		t.Errorf("a guest that is gone has a turn: %v, %v", first, err)
	}
	all, err := g.Turns(t.Context())
	check(t, err)
	if len(all) != 2 || all[0].ID != id || all[0].Gone || !all[1].Gone {
		t.Errorf("the turns are %+v", all)
	}
	check(t, g.Remove(t.Context(), id))
	if all, err = g.Turns(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("after one is removed there are %+v, %v", all, err)
	}
}
