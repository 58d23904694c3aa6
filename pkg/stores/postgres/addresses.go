package postgres

import (
	"context"
	"errors"
	"net/netip"

	"github.com/jackc/pgx/v5"
)

// Addresses keeps the first address of each host, by which a ring that is partitioned by ip places it.
type Addresses struct{ s *Store }

// Addresses returns the addresses of hosts.
func (s *Store) Addresses() *Addresses { return &Addresses{s} }

// Address returns what is kept for a host, which is invalid for one without an address; false: nothing yet.
func (a *Addresses) Address(ctx context.Context, host string) (addr netip.Addr, found bool, err error) {
	err = a.s.do(ctx, "address of host "+host, func(ctx context.Context) error {
		var kept *netip.Addr
		err := a.s.pool.QueryRow(ctx, `SELECT addr FROM addresses WHERE host = $1`, host).Scan(&kept)
		if errors.Is(err, pgx.ErrNoRows) {
			found = false
			return nil
		}
		if found = err == nil; found && kept != nil {
			addr = *kept
		}
		return err
	})
	return addr, found, err
}

// KeepAddress keeps addr, or that the host has none where it is invalid, unless something is kept already. It returns
// what is kept.
func (a *Addresses) KeepAddress(ctx context.Context, host string, addr netip.Addr) (netip.Addr, error) {
	var value *netip.Addr
	if addr.IsValid() {
		value = &addr
	}
	err := a.s.do(ctx, "keep the address of host "+host, func(ctx context.Context) error {
		_, err := a.s.pool.Exec(ctx, `INSERT INTO addresses (host, addr) VALUES ($1, $2) ON CONFLICT DO NOTHING`, host, value)
		return err
	})
	if err != nil {
		return netip.Addr{}, err
	}
	kept, _, err := a.Address(ctx, host)
	return kept, err
}
