package postgres

import (
	"context"
	"maps"
	"slices"
)

// placing is which servers of a ledger have the rows of a table.
type placing uint8

const (
	onMain   placing = iota // the main server alone
	byHash                  // that of the row's host; the primary key is job, host, hash
	byHost                  // likewise; the primary key is job, host
	inNotes                 // likewise; a row has several hosts, all of one server
	onEach                  // each has the same rows
	ofRows                  // each has what its URLs add up to
	ofLooks                 // for the time of an audit
	ofMember                // each says what it is itself
)

// placings has all tables. One that is missing is noticed by a test; a wrong entry would lose rows in a move.
var placings = map[string]placing{
	"urls": byHash, "following": byHash, "unkept": byHash, "redirects": byHash, "places": byHash, "revisits": byHash,
	"habits": byHost, "followed": inNotes, "followed_since": onEach, "members": onEach, "tallies": ofRows,
	"queue_looks": ofLooks, "queue_look_answers": ofLooks, "queue_look_open": ofLooks, "queue_look_held": ofLooks,
	"ledger_servers": ofMember, "ledger_list": ofMember, "ledger_move": ofMember, "ledger_moved": ofMember,
	"jobs": onMain, "job_revisions": onMain, "retired_numbers": onMain, "attempts": onMain, "budgets": onMain,
	"fingerprints": onMain, "hosts": onMain, "robots": onMain, "addresses": onMain, "jars": onMain, "spent": onMain,
	"plugins": onMain, "resources": onMain, "resource_bodies": onMain, "resource_octets": onMain, "renders": onMain,
	"page_text": onMain, "trials": onMain, "agents": onMain, "program_settings": onMain, "held_hosts": onMain,
	"guest_turns": onMain,
}

// tablesThatAre returns the tables of some placings, in the order of their names.
func tablesThatAre(of ...placing) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(placings)), func(table string) bool {
		return !slices.Contains(of, placings[table])
	})
}

// filled returns a table of a database that has rows; empty: all are empty, or not there.
func (s *Store) filled(ctx context.Context, tables []string) (string, error) {
	for _, table := range tables {
		var there, rows bool
		err := s.pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, table).Scan(&there)
		if err == nil && there {
			sql := `SELECT EXISTS (SELECT FROM ` + table + `)`
			if table == "members" { // the row of the ring itself is always there
				sql = `SELECT EXISTS (SELECT FROM members WHERE node <> '')`
			}
			err = s.pool.QueryRow(ctx, sql).Scan(&rows)
		}
		if err != nil || rows {
			return table, err
		}
	}
	return "", nil
}

// segment is a part of the hosts that has one server under the old list and one under the new.
type segment struct {
	first, last int64 // both included, as in columns
	from, to    *Store
}

// segmentsOf divides all hosts. In the lists are the servers by their places.
func segmentsOf(from, to []*Store) (all []segment) {
	var firsts []uint64
	for _, list := range [][]*Store{from, to} {
		for i := range list {
			firsts = append(firsts, firstHost(i, len(list)))
		}
	}
	slices.Sort(firsts)
	firsts = slices.Compact(firsts)
	for i, first := range firsts {
		last := ^uint64(0)
		if i+1 < len(firsts) {
			last = firsts[i+1] - 1
		}
		all = append(all, segment{signedHost(first), signedHost(last), from[placeOf(first, len(from))],
			to[placeOf(first, len(to))]})
	}
	return all
}

// moves reports whether rows of the segment get to another server.
func (g *segment) moves() bool { return g.from != g.to }

// segmentsThat returns some of them.
func segmentsThat(all []segment, is func(*segment) bool) (some []segment) {
	for i := range all {
		if is(&all[i]) {
			some = append(some, all[i])
		}
	}
	return some
}
