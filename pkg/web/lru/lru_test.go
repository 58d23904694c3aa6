package lru_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/lru"
)

func TestForgetsTheLeastRecentlyUsed(t *testing.T) {
	c := lru.New[string, int](2, 0)
	c.Put("a", 1, 0)
	c.Put("b", 2, 0)
	c.Get("a")
	c.Put("c", 3, 0)
	if _, ok := c.Get("b"); ok {
		t.Error("b was used least recently and is still there")
	}
	if v, ok := c.Get("a"); !ok || v != 1 {
		t.Errorf("a = %d, %v, want 1, true", v, ok)
	}
}

func TestValueDearerThanTheCacheLeavesTheOthersAlone(t *testing.T) {
	c := lru.New[string, int](10, 100)
	c.Put("small", 1, 100)
	c.Put("big", 2, 101)
	if _, ok := c.Get("big"); ok {
		t.Error("the cache holds more than it may cost")
	}
	if _, ok := c.Get("small"); !ok {
		t.Error("a value that is not kept pushed another one out")
	}
}

// The cache against a slice that is searched from end to end.
func TestAgainstModel(t *testing.T) {
	type item struct{ key, value, cost int }
	rapid.Check(t, func(t *rapid.T) {
		entries, limit := rapid.IntRange(1, 5).Draw(t, "entries"), rapid.IntRange(0, 20).Draw(t, "cost")
		c := lru.New[int, int](entries, int64(limit))
		var model []item // the latest used last
		take := func(key int) (it item, ok bool) {
			for i, it := range model {
				if it.key == key {
					model = append(model[:i:i], model[i+1:]...)
					return it, true
				}
			}
			return item{}, false
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			key := rapid.IntRange(0, 7).Draw(t, "key")
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				it := item{key, rapid.Int().Draw(t, "value"), rapid.IntRange(0, 9).Draw(t, "c")}
				take(key)
				if limit == 0 || it.cost <= limit {
					model = append(model, it)
				}
				for sum := total(model, func(it item) int { return it.cost }); len(model) > entries || limit > 0 && sum > limit; {
					sum -= model[0].cost
					model = model[1:]
				}
				c.Put(it.key, it.value, int64(it.cost))
			case 1:
				it, want := take(key)
				if want {
					model = append(model, it)
				}
				if v, ok := c.Get(key); ok != want || v != it.value {
					t.Fatalf("Get(%d) = %d, %v, want %d, %v", key, v, ok, it.value, want)
				}
			case 2:
				take(key)
				c.Delete(key)
			}
			if c.Len() != len(model) {
				t.Fatalf("Len = %d, want %d", c.Len(), len(model))
			}
		}
	})
}

func total[T any](items []T, of func(T) int) (sum int) {
	for _, it := range items {
		sum += of(it)
	}
	return sum
}
