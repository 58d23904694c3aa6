package rabbit_test

import (
	"net/url"
	"testing"
)

// withUserOf returns the address with the user of another one.
func withUserOf(t testing.TB, address, other string) string {
	t.Helper()
	a, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	o, err := url.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	a.User = o.User
	return a.String()
}
