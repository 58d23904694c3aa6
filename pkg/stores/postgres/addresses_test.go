package postgres_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
)

func TestTheFirstAddressIsKept(t *testing.T) {
	ctx, s := context.Background(), open(t)
	if _, found, err := s.Addresses().Address(ctx, "a.test"); found || err != nil {
		t.Fatalf("before: found %v, %v", found, err)
	}
	kept := make([]netip.Addr, 8)
	var wg sync.WaitGroup
	for i := range kept {
		wg.Go(func() {
			var err error
			if kept[i], err = s.Addresses().KeepAddress(ctx, "a.test",
				netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, a := range kept {
		if a != kept[0] || !a.IsValid() {
			t.Errorf("answers %v: all must be the same", kept)
			break
		}
	}
	if a, err := s.Addresses().KeepAddress(ctx, "none.test", netip.Addr{}); a.IsValid() || err != nil {
		t.Errorf("a host without address: %v, %v", a, err)
	}
	if a, found, err := s.Addresses().Address(ctx, "none.test"); a.IsValid() || !found || err != nil {
		t.Errorf("a host without address is kept, too: %v, %v, %v", a, found, err)
	}
	if a, err := s.Addresses().KeepAddress(ctx, "none.test", netip.MustParseAddr("2001:db8::1")); a.IsValid() ||
		err != nil {
		t.Errorf("an address that came later: %v, %v", a, err)
	}
}
