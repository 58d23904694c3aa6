package ring

import (
	"context"
	"errors"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestTheRouterAnswersFromTheCurrentTable(t *testing.T) {
	ctx := context.Background()
	u, err := weburl.Parse("http://www.example.com/a")
	if err != nil {
		t.Fatal(err)
	}
	var now *Table
	r := Router{Self: "n0", Current: func() *Table { return now }}
	owner := func() (string, error) {
		v, err := r.View()
		if err != nil {
			return "", err
		}
		return v.Owner(ctx, u)
	}
	if _, err := owner(); !errors.Is(err, ErrEmpty) {
		t.Errorf("without a table: %v", err)
	}
	now = of(t, 10, 1)
	if name, err := owner(); name != "" || err != nil {
		t.Errorf("the only node, which is this one: %q, %v", name, err)
	}
	r.Self = "n1"
	if name, err := owner(); name != "n0" || err != nil {
		t.Errorf("the only node: %q, %v", name, err)
	}
	now = Must(Create(10, ByIP, 1))
	if _, err := owner(); !errors.Is(err, ErrNoAddresses) {
		t.Errorf("by ip without addresses: %v", err)
	}
}
