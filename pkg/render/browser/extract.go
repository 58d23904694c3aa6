package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots"
)

var (
	//go:embed scripts/extract.js
	extractScript string
	//go:embed scripts/world.js
	worldScript string
	//go:embed scripts/frames.js
	framesScript string
	//go:embed scripts/turn.js
	turnScript string
	//go:embed scripts/scroll.js
	scrollScript string
)

// highest is how much of a page a picture shows, in pixels.
const highest = 8192

// world is the script that makes what scripts find the same in each render: random numbers by the URL, and the date.
func world(req *render.Request) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(req.URL)) // cannot fail
	start := int64(0)
	if !req.Now.IsZero() {
		start = req.Now.UnixMilli()
	}
	return fmt.Sprintf("%s(%d,%d);", strings.TrimSpace(comment(worldScript)), h.Sum32(), start)
}

// Frames of a page, beside those that the browser draws [chosen: what a person sees in a quarter of a second, and then
// as often as that changes what a page loads].
const (
	quickFrames = 16 // that come each 16 ms
	frameGap    = 16 * time.Millisecond
	laterGap    = 100 * time.Millisecond
	// mostSights is how many frames may tell that something came into view: a list may go on without end.
	mostSights = 16
	// mostTargets is how many elements of an observer are looked at.
	mostTargets = 2000
)

// frames is the script that gives a page its frames.
func frames() string {
	return fmt.Sprintf("%s(%d,%d,%d,%d,%d);", strings.TrimSpace(comment(framesScript)), quickFrames,
		frameGap.Milliseconds(), laterGap.Milliseconds(), mostSights, mostTargets)
}

// comment takes the comment off the beginning of a script, so that it may be called.
func comment(script string) string { return script[strings.Index(script, "\n(")+1:] }

// extracted is what the script returns.
type extracted struct {
	HTML   string `json:"html"`
	Cut    bool   `json:"cut"`
	Height int    `json:"height"`
	URL    string `json:"url"`
	found
}

// found are the links of a document, and of its frames.
type found struct {
	Links      []string `json:"links"`
	Unfollowed []string `json:"unfollowed"` // that say nofollow, or whose document does
}

// extract takes the page as it is now.
func (r *rendering) extract() error {
	got, err := r.read(cdp.FrameID(r.tab.target), r.limits.HTML)
	if err != nil {
		return err
	}
	links := got.found
	if err := r.frames(&links); err != nil {
		return err
	}
	picture, err := r.picture(got.Height)
	if err != nil {
		return err
	}
	html, cut := bounded(got.HTML, r.limits.HTML)
	if cut || got.Cut {
		r.limit("the page is larger than %d octets", r.limits.HTML)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.HTML, r.result.Screenshot, r.result.Final, r.result.Cut = html, picture, got.URL, cut || got.Cut
	known := map[string]bool{}
	r.result.Links = addNew(r.result.Links, links.Links, known)
	r.result.Unfollowed = addNew(r.result.Unfollowed, links.Unfollowed, known)
	return nil
}

// addNew adds links that are not known yet.
func addNew(to, links []string, known map[string]bool) []string {
	for _, link := range links {
		if !known[link] {
			known[link] = true
			to = append(to, link)
		}
	}
	return to
}

// read runs the script in a frame. Where no HTML is wanted it returns links only.
func (r *rendering) read(frame cdp.FrameID, html int) (got extracted, err error) {
	world, err := r.world(frame)
	if err != nil {
		return got, err
	}
	return got, r.evaluate(r.ctx, world, r.extracting(html), &got)
}

// extracting calls the script.
func (r *rendering) extracting(html int) string {
	return fmt.Sprintf("%s({max:%d,all:%t,agent:%s})", strings.TrimSpace(comment(extractScript)), html, r.req.Nofollow,
		quoted(strings.ToLower(r.req.Agent)))
}

// mostFrames is how many frames of a page are looked into.
const mostFrames = 50

// frames adds the links of the frames of the same site, and of those that scripts wrote into them.
func (r *rendering) frames(links *found) error {
	tree, err := cdp.Call(r.ctx, r.tab.page, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return err
	}
	for todo, n := tree.FrameTree.ChildFrames, 0; len(todo) > 0 && n < mostFrames; n++ {
		f := todo[0]
		todo = todo[1:]
		if !strings.HasPrefix(f.Frame.URL, "about:") && siteOf(f.Frame.URL) != r.site {
			continue
		}
		todo = append(todo, f.ChildFrames...)
		got, err := r.read(f.Frame.ID, 0)
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		if err != nil { // a frame may have gone meanwhile
			continue
		}
		if r.isSilent(string(f.Frame.LoaderID)) {
			got.Links, got.Unfollowed = nil, slices.Concat(got.Links, got.Unfollowed)
		}
		links.Links = append(links.Links, got.Links...)
		links.Unfollowed = append(links.Unfollowed, got.Unfollowed...)
	}
	return nil
}

// hear notes what the answer for a frame's document says of its links, by the name of its request: that of the last
// answer, after redirects, is that of the document.
func (r *rendering) hear(a *asked, answer *render.Answer) {
	if a.main || a.sub.Type != string(network.ResourceTypeDocument) || r.req.Nofollow {
		return
	}
	var said robots.Directives
	said.AddTags(answer.Header.Values("X-Robots-Tag"), r.req.Agent)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent[a.network] = said.NoFollow
}

// isSilent reports whether a frame's document was sent with the word that none of its links is to be followed.
func (r *rendering) isSilent(loader string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.silent[loader]
}

// quoted is a text as scripts write it.
func quoted(text string) string {
	out, _ := json.Marshal(text) // a string can always be written
	return string(out)
}

// bounded cuts a text to so many octets, between two characters.
func bounded(text string, most int) ([]byte, bool) {
	if len(text) <= most {
		return []byte(text), false
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return []byte(text[:most]), true
}

// world makes a world of our own in a frame's document.
func (r *rendering) world(frame cdp.FrameID) (runtime.ExecutionContextID, error) {
	world, err := cdp.Call(r.ctx, r.tab.page, page.CreateIsolatedWorld,
		page.CreateIsolatedWorldParams{FrameID: frame, WorldName: "whirlpool"})
	return world.ExecutionContextID, err
}

// evaluate runs a script in a world.
func (r *rendering) evaluate(ctx context.Context, world runtime.ExecutionContextID, script string, into any) error {
	got, err := cdp.Call(ctx, r.tab.page, runtime.Evaluate, runtime.EvaluateParams{Expression: script, ContextID: world,
		ReturnByValue: new(true), AwaitPromise: new(true)})
	if err != nil {
		return err
	}
	if got.ExceptionDetails != nil {
		return ends(render.Crash, "the page cannot be read: %s", got.ExceptionDetails.Text)
	}
	if into == nil {
		return nil
	}
	return decode(got.Result.Value, into)
}

// longestPicture is how long a picture may take: for one the browser must draw a frame.
const longestPicture = 5 * time.Second

// pictureTries is how often a picture is asked for: on a busy machine the browser was seen to draw no frame at all for
// the first request.
const pictureTries = 2

// picture takes a picture of the page, where one is wanted and the browser draws.
func (r *rendering) picture(tall int) ([]byte, error) {
	if !r.req.Screenshot {
		return nil, nil
	}
	for range pictureTries {
		if data, err := r.take(tall); len(data) > 0 || err != nil {
			return data, err
		}
		r.tab.page.tell(page.CommandBringToFront, nil) // so that it draws anew
	}
	return nil, nil
}

// take takes a picture; nil: it took too long.
func (r *rendering) take(tall int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.ctx, r.patient(longestPicture))
	defer cancel()
	got, err := cdp.Call(ctx, r.tab.page, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(60)), CaptureBeyondViewport: new(true),
		Clip: &page.Viewport{Width: width, Height: float64(min(max(tall, 1), highest)), Scale: 1}})
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(r.ctx) // nil where only the picture took too long
	}
	return got.Data, err
}
