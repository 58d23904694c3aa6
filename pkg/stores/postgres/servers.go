package postgres

import (
	"context"
	"fmt"
	"math/bits"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The ledger may lie on several servers: Config.Ledger. Each has an equal part of the hosts' hashes, in their order,
// and of these hosts all rows whose keys begin with the hash: URLs, outcomes, tallies, links on their way, visits. So a
// statement never spans two servers; a call may, and then its statements are sent side by side. If one fails, the
// others may have been executed: callers send a failed call again, and a repeated one changes nothing. Jobs, numbers of
// jobs and all else are on the main server, Config.URL.

// at returns the server with the rows of a key.
func (s *Store) at(k weburl.Key) *Store { return s.ledger[s.place(k.Host())] }

// place returns which server has a host.
func (s *Store) place(host uint64) int { return placeOf(host, len(s.ledger)) }

// placeOf returns which of n servers has a host: server i has those from i·2^64/n on.
func placeOf(host uint64, n int) int {
	hi, _ := bits.Mul64(host, uint64(n))
	return int(hi)
}

// onServers hands the items to their servers, each server's in the order of the call. places says where they are in
// items; nil: all of them are there, in their order.
func onServers[T any](s *Store, items []T, key func(*T) weburl.Key,
	send func(at *Store, part []T, places []int) error) error {
	if len(s.ledger) == 1 || len(items) == 0 {
		return send(s.ledger[0], items, nil)
	}
	parts, places := make([][]T, len(s.ledger)), make([][]int, len(s.ledger))
	for i := range items {
		k := key(&items[i])
		p := s.place(k.Host())
		parts[p], places[p] = append(parts[p], items[i]), append(places[p], i)
	}
	return s.together(func(i int, at *Store) error {
		if len(parts[i]) == 0 {
			return nil
		}
		return send(at, parts[i], places[i])
	})
}

// together calls each for all servers of the ledger at once. Of several errors it returns one after which the call may
// be sent again, where there is one: what will never succeed is seen then.
func (s *Store) together(each func(i int, at *Store) error) error {
	errs := make([]error, len(s.ledger))
	var calls sync.WaitGroup
	for i, at := range s.ledger {
		calls.Go(func() { errs[i] = each(i, at) })
	}
	calls.Wait()
	var never error
	for _, err := range errs {
		switch {
		case err == nil:
		case !crawl.IsPermanent(err):
			return err
		case never == nil:
			never = err
		}
	}
	return never
}

// everywhere calls each for the main server, and then for the servers of the ledger, until an error.
func (s *Store) everywhere(each func(at *Store) error) error {
	if err := each(s); err != nil {
		return err
	}
	return s.inTurn(func(at *Store) error {
		if at == s {
			return nil
		}
		return each(at)
	})
}

// sum adds up what count returns for each server.
func (s *Store) sum(count func(at *Store) (int64, error)) (n int64, err error) {
	counts := make([]int64, len(s.ledger))
	err = s.together(func(i int, at *Store) (err error) {
		counts[i], err = count(at)
		return err
	})
	for _, c := range counts {
		n += c
	}
	return n, err
}

// inTurn calls each for one server of the ledger after the other, in the order of their keys, until an error.
func (s *Store) inTurn(each func(at *Store) error) error {
	for _, at := range s.ledger {
		if err := each(at); err != nil {
			return err
		}
	}
	return nil
}

// inRanges is inTurn for the servers that have something of the ranges; each gets what it has.
func (s *Store) inRanges(in []weburl.KeyRange, each func(at *Store, in []weburl.KeyRange) error) error {
	for i, at := range s.ledger {
		part := clip(in, s.firstOf(i), s.firstOf(i+1)-1)
		if len(part) == 0 {
			continue
		}
		if err := each(at, part); err != nil {
			return err
		}
	}
	return nil
}

// firstOf is the first host of a server; 0 for the one after the last.
func (s *Store) firstOf(place int) uint64 { return firstHost(place, len(s.ledger)) }

// firstHost is firstOf of n servers.
func firstHost(place, n int) uint64 {
	if place == n {
		return 0
	}
	first, rest := bits.Div64(uint64(place), 0, uint64(n))
	if rest > 0 {
		first++
	}
	return first
}

// clip leaves of ranges what lies between two hosts, both included.
func clip(in []weburl.KeyRange, first, last uint64) (out []weburl.KeyRange) {
	for _, r := range in {
		if r.First, r.Last = max(r.First, first), min(r.Last, last); r.First <= r.Last {
			out = append(out, r)
		}
	}
	return out
}

// onServersAsk is onServers for calls with an answer for each item.
func onServersAsk[T, A any](s *Store, items []T, key func(*T) weburl.Key,
	ask func(at *Store, part []T) ([]A, error)) ([]A, error) {
	var out []A
	if len(s.ledger) > 1 {
		out = make([]A, len(items))
	}
	err := onServers(s, items, key, func(at *Store, part []T, places []int) error {
		answers, err := ask(at, part)
		if places == nil {
			out = answers
			return err
		}
		for i, p := range places[:min(len(places), len(answers))] {
			out[p] = answers[i]
		}
		return err
	})
	return out, err
}

// walk reads on from a key until it has n rows, over as many servers as that takes.
func walk[T any](s *Store, after weburl.Key, n int, read func(at *Store, n int) ([]T, error)) (list []T, err error) {
	for i := s.place(after.Host()); err == nil && i < len(s.ledger) && len(list) < n; i++ {
		var more []T
		more, err = read(s.ledger[i], n-len(list))
		list = append(list, more...)
	}
	return list, err
}

func sameKey(k *weburl.Key) weburl.Key     { return *k }
func keyOfTask(t *crawl.Task) weburl.Key   { return t.URL.Key() }
func keyOfEntry(e *crawl.Entry) weburl.Key { return e.Key }

// addServers opens the servers of the ledger.
func (s *Store) addServers(ctx context.Context) (err error) {
	if s.ledger = []*Store{s}; len(s.cfg.Ledger) > 0 {
		s.ledger = nil
	}
	for i, url := range s.cfg.Ledger {
		cfg := s.cfg
		cfg.URL, cfg.Ledger = url, nil
		at, err := openServer(ctx, cfg)
		if err != nil {
			return fmt.Errorf("server %d of the ledger: %w", i+1, err)
		}
		at.main, at.jobs = s, s.jobs
		at.follow()
		s.ledger = append(s.ledger, at)
	}
	return s.enlist(ctx)
}
