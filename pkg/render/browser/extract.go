package browser

import (
	"context"
	_ "embed"
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

var (
	//go:embed scripts/extract.js
	extractScript string
	//go:embed scripts/seed.js
	seedScript string
	//go:embed scripts/scroll.js
	scrollScript string
)

// highest is how much of a page a picture shows, in pixels.
const highest = 8192

// seed is the script that seeds random numbers by a URL.
func seed(url string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(url)) // cannot fail
	return fmt.Sprintf("%s(%d)", strings.TrimSpace(comment(seedScript)), h.Sum32())
}

// comment takes the comment off the beginning of a script, so that it may be called.
func comment(script string) string { return script[strings.Index(script, "\n(")+1:] }

// extracted is what the script returns.
type extracted struct {
	HTML      string `json:"html"`
	Cut       bool   `json:"cut"`
	Height    int    `json:"height"`
	Documents []struct {
		URL   string   `json:"url"`
		Links []string `json:"links"`
	} `json:"documents"`
}

// extract takes the page as it is now.
func (r *rendering) extract() error {
	world, err := r.world()
	if err != nil {
		return err
	}
	var got extracted
	call := fmt.Sprintf("%s(%d)", strings.TrimSpace(comment(extractScript)), r.limits.HTML)
	if err := r.evaluate(r.ctx, world, call, &got); err != nil {
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
	r.result.HTML, r.result.Screenshot = html, picture
	known := map[string]bool{}
	for i, d := range got.Documents {
		if i == 0 {
			r.result.Final = d.URL
		} else if !strings.HasPrefix(d.URL, "about:") && siteOf(d.URL) != r.site {
			continue
		}
		for _, link := range d.Links {
			if !known[link] {
				known[link] = true
				r.result.Links = append(r.result.Links, link)
			}
		}
	}
	return nil
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

// world makes a world of our own in the main frame's document, with a look into all frames.
func (r *rendering) world() (runtime.ExecutionContextID, error) {
	world, err := cdp.Call(r.ctx, r.tab.page, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{
		FrameID: cdp.FrameID(r.tab.target), WorldName: "whirlpool", GrantUniveralAccess: new(true)})
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

// picture takes a picture of the page, where one is wanted.
func (r *rendering) picture(tall int) ([]byte, error) {
	if !r.req.Screenshot {
		return nil, nil
	}
	got, err := cdp.Call(r.ctx, r.tab.page, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(60)), CaptureBeyondViewport: new(true),
		Clip: &page.Viewport{Width: width, Height: float64(min(max(tall, 1), highest)), Scale: 1}})
	return got.Data, err
}
