package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// keeper looks after the bodies that a stage's messages carry, so that no stage has to. Of the outputs that carry the
// body of their message, the first keeps its reference, and each other gets one of its own. Where none does, the body
// is released once the outputs are published.
type keeper struct {
	stage  string
	bodies crawl.Bodies // nil: events carry none
}

// share gives outputs references of their own. release is what is to be released when they are published; empty:
// nothing.
func (k keeper) share(ctx context.Context, in crawl.Event, out []crawl.Event) (release crawl.BodyRef, err error) {
	body := k.bodyOf(in)
	if body == "" {
		return "", nil
	}
	kept := false
	for i, e := range out {
		b, ok := e.(crawl.Bodied)
		if !ok || *b.BodyRef() != body {
			continue
		}
		if !kept {
			kept = true
			continue
		}
		switch ref, err := k.bodies.Share(ctx, body, k.stage+"."+strconv.Itoa(i)); {
		case errors.Is(err, crawl.ErrNoBody):
			return "", ErrHandled // it was released after the outputs were published
		case errors.Is(err, crawl.ErrBodyLost): // who opens it finds that out, and has the page fetched again
		case err != nil:
			return "", fmt.Errorf("stage %s: share body %s: %w", k.stage, body, err)
		default:
			*b.BodyRef() = ref
		}
	}
	if kept {
		return "", nil
	}
	return body, nil
}

// release releases a body; an empty reference is none.
func (k keeper) release(ctx context.Context, body crawl.BodyRef) error {
	if body == "" {
		return nil
	}
	if err := k.bodies.Release(ctx, body); err != nil {
		return fmt.Errorf("stage %s: release body %s: %w", k.stage, body, err)
	}
	return nil
}

// bodyOf is the body that an event carries; empty: none.
func (k keeper) bodyOf(in crawl.Event) crawl.BodyRef {
	if b, ok := in.(crawl.Bodied); ok && k.bodies != nil {
		return *b.BodyRef()
	}
	return ""
}
