package frontier

import "github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"

// Held is the number of tasks in memory.
func (f *Frontier) Held() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stock.held
}

// Doubts adds many keys to the memory of doubted URLs, and counts those that it forgot, and others that it holds.
func Doubts(key func(n int) weburl.Key, many, others int) (forgotten, wrong int) {
	var d doubted
	for n := range many {
		d.add(key(n))
	}
	for n := range many + others {
		switch has := d.has(key(n)); {
		case n < many && !has:
			forgotten++
		case n >= many && has:
			wrong++
		}
	}
	return forgotten, wrong
}
