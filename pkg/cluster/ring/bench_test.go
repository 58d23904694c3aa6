package ring

import (
	"fmt"
	"testing"
)

func BenchmarkOwner(b *testing.B) {
	var hosts [1024]string
	for i := range hosts {
		hosts[i] = fmt.Sprintf("www.site%d.example.com", i)
	}
	for _, nodes := range []int{1, 10, 100, 1000} {
		r := of(b, 256_000, nodes)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := r.Owner(hosts[i%len(hosts)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkJoin(b *testing.B) {
	r := of(b, 256_000, 1000)
	for b.Loop() {
		if _, err := r.Join(node("x", Unit, 5000)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCodec(b *testing.B) {
	r := of(b, 256_000, 1000)
	for b.Loop() {
		if _, err := Decode(Must2(r.Encode())); err != nil {
			b.Fatal(err)
		}
	}
}
