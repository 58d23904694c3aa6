// Package lru is a map that forgets what was not asked for longest once it holds too much: too many entries or too much
// cost. It knows nothing of time; an owner whose entries expire checks that on what Get returns.
package lru

import (
	"container/list"
	"sync"
)

// Cache is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu         sync.Mutex
	maxEntries int
	maxCost    int64
	cost       int64
	recent     *list.List // of *entry[K, V], the latest used in front
	entries    map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	cost  int64
}

// New returns a cache of at most maxEntries entries, at least 1, and of a total cost of at most maxCost; 0 means any
// cost. What the cost counts is the caller's affair.
func New[K comparable, V any](maxEntries int, maxCost int64) *Cache[K, V] {
	return &Cache[K, V]{maxEntries: max(maxEntries, 1), maxCost: maxCost, recent: list.New(),
		entries: map[K]*list.Element{}}
}

// Get returns the value of key and makes it the latest used.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[key]
	if !ok {
		return value, false
	}
	c.recent.MoveToFront(el)
	return el.Value.(*entry[K, V]).value, true
}

// Put sets the value of key. A value that costs more than the whole cache may hold is not kept.
func (c *Cache[K, V]) Put(key K, value V, cost int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.entries[key]; ok {
		c.remove(el)
	}
	if c.maxCost > 0 && cost > c.maxCost {
		return // making room for it would empty the cache
	}
	c.entries[key] = c.recent.PushFront(&entry[K, V]{key, value, cost})
	c.cost += cost
	for c.recent.Len() > c.maxEntries || c.maxCost > 0 && c.cost > c.maxCost {
		c.remove(c.recent.Back())
	}
}

// Delete forgets key.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.entries[key]; ok {
		c.remove(el)
	}
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recent.Len()
}

func (c *Cache[K, V]) remove(el *list.Element) {
	e := c.recent.Remove(el).(*entry[K, V])
	delete(c.entries, e.key)
	c.cost -= e.cost
}
