package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
)

// Views behind a hash: for a crawler they are one page.
const (
	// mostRoutes is how many are looked into, and mostNamed how many of them have names that a place in a page might have.
	mostRoutes, mostNamed = 64, 8
	// shareOfView is what each adds to the limits of the page, as a part of these: most are a list or an item.
	shareOfView = 16
	// viewPart is a view's first part of the page's time. viewParts is how many it gets at most: more than two where the
	// one before brought something.
	viewPart, viewParts = .3, 5
	// backPart is the part of the page's time for which the first view is gone back to.
	backPart = .05
	// slowView is how long going to a view may take: longer than that its scripts do not come to an end.
	slowView = 2 * time.Second
)

// routes goes to the views that the page's links lead to by a hash alone (#/list, #!list, #list where no place in the
// page is called so), and notes their links. What goes wrong in one takes nothing from the page, nor from the others.
func (r *rendering) routes() {
	seen, named, last := r.places(), 0, ""
	for n := 0; n < mostRoutes && !r.limited() && r.ctx.Err() == nil && r.tab.p.virtual; {
		hash := r.nextRoute(seen, named < mostNamed)
		if hash == "" {
			return
		}
		err := r.back(last, hash)
		shown := false
		if err == nil {
			shown, err = r.show(hash)
		}
		if shown && err == nil {
			last = hash
			if n++; !isRoute(hash) {
				named++
			}
			err = r.stay()
		}
		if err != nil && r.ctx.Err() != nil {
			return
		}
	}
}

// places are the names of places in the page, before another view takes them away.
func (r *rendering) places() map[string]bool {
	seen := map[string]bool{"top": true}
	world, err := r.world(cdp.FrameID(r.tab.target))
	if err != nil {
		return seen
	}
	ctx, cancel := context.WithTimeout(r.enough, r.patient(slowView))
	defer cancel()
	var names []string
	if r.evaluate(ctx, world, places, &names) == nil {
		for _, name := range names {
			seen[name] = true
		}
	}
	return seen
}

// nextRoute returns a route that was not seen yet, and notes it. Those that look like routes come first.
func (r *rendering) nextRoute(seen map[string]bool, named bool) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	page, now, _ := strings.Cut(r.result.Final, "#")
	seen[now] = true
	other := ""
	for _, links := range [][]string{r.result.Links, r.passing} {
		for _, link := range links {
			at, hash, ok := strings.Cut(link, "#")
			switch {
			case !ok || at != page || hash == "" || seen[hash]:
			case isRoute(hash):
				seen[hash] = true
				return hash
			case other == "" && named && !strings.ContainsAny(hash, "=:~"):
				other = hash
			}
		}
	}
	if other != "" {
		seen[other] = true
	}
	return other
}

// isRoute tells a route from the name of a place in the page, which it may be as well otherwise.
func isRoute(hash string) bool { return strings.HasPrefix(hash, "/") || strings.HasPrefix(hash, "!") }

// The scripts: places names places of the page that links lead to; goTo has the page go to a view, and is false where
// the hash is the name of a place.
const (
	places = `[...document.querySelectorAll("a[href*='#']")].map(a => (a.getAttribute("href") || "").split("#")[1] || "").filter(h => {
  let name = h;
  try { name = decodeURIComponent(h) } catch {}
  return name && (document.getElementById(name) || document.getElementsByName(name).length);
})`
	goTo = `(hash => {
  let name = hash;
  try { name = decodeURIComponent(hash) } catch {}
  if (hash && !/^[/!]/.test(hash) && (document.getElementById(name) || document.getElementsByName(name).length)) return false;
  location.hash = hash;
  return true;
})(%s)`
)

// show goes to a view, and reports whether it is one.
func (r *rendering) show(hash string) (shown bool, err error) {
	world, err := r.world(cdp.FrameID(r.tab.target))
	if err != nil {
		return false, err
	}
	to, err := json.Marshal(hash)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(r.enough, r.patient(slowView))
	defer cancel()
	return shown, r.evaluate(ctx, world, fmt.Sprintf(goTo, to), &shown)
}

// stay gives a view parts of its time: it shows itself, then what it was waiting for, and then what comes into view at
// its end.
func (r *rendering) stay() error {
	r.mu.Lock()
	r.views++
	r.mu.Unlock()
	for i, part, grew := 0, viewPart, true; i < 2 || i < viewParts && grew; i, part = i+1, furtherPart {
		links, requests := r.has()
		if done, err := r.part(part, 0); done || err != nil {
			return err
		}
		if err := r.between(i == 0); err != nil {
			return err
		}
		r.gather(r.ctx)
		l, n := r.has()
		grew = l > links || n > requests
	}
	return nil
}

// back goes back to the page's first view for a moment, where the next is like the last one: a program that shows an
// item does not always notice that it is to show another.
func (r *rendering) back(last, next string) error {
	if alike(last) != alike(next) {
		return nil
	}
	_, first, _ := strings.Cut(r.result.Final, "#")
	if _, err := r.show(first); err != nil {
		return err
	}
	_, err := r.part(backPart, 0)
	return err
}

// alike is what views of one kind have in common: the first part of their path.
func alike(hash string) string {
	kind, _, _ := strings.Cut(strings.TrimLeft(hash, "!/"), "/")
	return kind
}
