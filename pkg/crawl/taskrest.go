package crawl

import (
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// AppendTaskRest appends the compact form of t without its job and URL, for a store that has columns for them. The
// referrer comes last, without the start that it shares with the URL: both are mostly on one host.
func AppendTaskRest(b []byte, t *Task) []byte {
	rest := *t
	rest.Job, rest.URL, rest.Referrer = "", weburl.URL{}, weburl.URL{}
	b = AppendTask(b, &rest)
	if !t.Referrer.IsZero() {
		b = appendURL(b, t.Referrer, t.URL)
	}
	return b
}

// DecodeTaskRest reads what AppendTaskRest appended, and nothing else, into t, whose job and URL are set.
func DecodeTaskRest(b []byte, t *Task) error {
	job, url := t.Job, t.URL
	r := codec.Reader{B: b}
	if r.Byte() != taskVersion {
		return fmt.Errorf("%w: it has no version that this program knows", errTask)
	}
	if err := readTask(&r, t, nil); err != nil {
		return err
	}
	if t.Job != "" || !t.URL.IsZero() || !t.Referrer.IsZero() {
		return errTask
	}
	t.Job, t.URL = job, url
	if !r.Done() {
		var err error
		if t.Referrer, err = readURL(&r, url); err != nil || !r.Done() {
			return errors.Join(errTask, err)
		}
	}
	return nil
}
