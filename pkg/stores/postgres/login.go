package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrRefused says that the server answers and does not let this user in: waiting will not help, a setting will.
var ErrRefused = errors.New("the server refuses the login")

// loginError is err, marked where the server was reached and refused the user: class 28 and 3D000 (PostgreSQL manual,
// appendix A).
func loginError(cc *pgx.ConnConfig, err error) error {
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && len(pg.Code) == 5 && pg.Code[:2] == "28":
		return fmt.Errorf("%w: user %s: check postgres.url and postgres.password: %w", ErrRefused, cc.User, err)
	case errors.As(err, &pg) && pg.Code == "3D000":
		return fmt.Errorf("%w: there is no database %s: check postgres.url: %w", ErrRefused, cc.Database, err)
	}
	return err
}
