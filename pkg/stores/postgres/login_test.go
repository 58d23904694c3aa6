package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

func TestARefusedLoginIsNotReportedAsUnreachable(t *testing.T) {
	good := newDatabase(t)
	for name, tc := range map[string]struct {
		change  func(u *url.URL)
		refused bool
		says    string
	}{
		"no such user": {func(u *url.URL) { u.User = url.UserPassword("nobody_here", "x") }, true,
			"user nobody_here: check postgres.url"},
		"no such database": {func(u *url.URL) { u.Path = "/not_there" }, true, "no database not_there"},
		"not there":        {func(u *url.URL) { u.Host = "127.0.0.1:1" }, false, "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := url.Parse(good)
			check(t, err)
			tc.change(u)
			s, err := postgres.Open(context.Background(), config(u.String()))
			if err == nil {
				s.Close()
			}
			if errors.Is(err, postgres.ErrRefused) != tc.refused || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("Open says %v", err)
			}
		})
	}
}
