package local

import (
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// BenchmarkPutJar changes one jar beside so many others of the job: what it takes does not depend on them.
func BenchmarkPutJar(b *testing.B) {
	for _, n := range []int{1, crawl.MaxJars} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := Open(b.TempDir(), Default())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			jars := s.Jars()
			for i := range n {
				if _, err := jars.PutJar(b.Context(), "job", &crawl.Jar{Site: fmt.Sprintf("s%d.test", i)}); err != nil {
					b.Fatal(err)
				}
			}
			jar, err := jars.Jar(b.Context(), "job", "s0.test")
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if jar.Version, err = jars.PutJar(b.Context(), "job", &jar); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
