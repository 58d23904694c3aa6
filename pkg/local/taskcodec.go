package local

import (
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func encodeTasks(items []crawl.Queued) ([][]byte, error) {
	values := make([][]byte, len(items))
	for i := range items {
		it := &items[i]
		if it.Queue == "" || strings.IndexByte(it.Queue, 0) >= 0 {
			return nil, fmt.Errorf("push %s to queue %q: a name has at least one character and no NUL", it.Task.URL, it.Queue)
		}
		v, err := crawl.EncodeValue(&it.Task)
		if err != nil {
			return nil, fmt.Errorf("push %s to queue %q: %w", it.Task.URL, it.Queue, err)
		}
		values[i] = v
	}
	return values, nil
}

func decodeTask(b []byte, t *crawl.Task) error { return crawl.DecodeValue(b, t) }
