package browser

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/chromedp/cdproto/cdp"
)

// mostRoutes is how many views behind a hash are looked into: for a crawler they are one page.
const mostRoutes = 20

// routes goes to the views that the page's links lead to by a hash alone (#/list, #!list), and notes their links. What
// goes wrong there takes nothing from what the page has.
func (r *rendering) routes() {
	seen := map[string]bool{}
	for n := 0; n < mostRoutes && !r.limited() && r.ctx.Err() == nil && r.tab.p.virtual; n++ {
		hash := r.nextRoute(seen)
		if hash == "" || r.show(hash) != nil {
			return
		}
	}
}

// nextRoute returns a route that was not seen yet, and notes it.
func (r *rendering) nextRoute(seen map[string]bool) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	page, now, _ := strings.Cut(r.result.Final, "#")
	seen[now] = true
	for _, links := range [][]string{r.result.Links, r.passing} {
		for _, link := range links {
			if at, hash, ok := strings.Cut(link, "#"); ok && at == page && isRoute(hash) && !seen[hash] {
				seen[hash] = true
				return hash
			}
		}
	}
	return ""
}

// isRoute tells a route from the name of a place in the page.
func isRoute(hash string) bool { return strings.HasPrefix(hash, "/") || strings.HasPrefix(hash, "!") }

// show goes to a view and gives it a part of its time.
func (r *rendering) show(hash string) error {
	world, err := r.world(cdp.FrameID(r.tab.target))
	if err != nil {
		return err
	}
	to, err := json.Marshal("#" + hash)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.enough, r.patient(otherTurn))
	defer cancel()
	if err := r.evaluate(ctx, world, "void (location.hash = "+string(to)+")", nil); err != nil {
		return err
	}
	for range 2 { // it shows itself, and then what it was waiting for
		if done, err := r.part(len(parts)); done || err != nil {
			return err
		}
		if _, err := r.turn(otherTurn); err != nil {
			return err
		}
	}
	r.gather(r.ctx)
	return nil
}
