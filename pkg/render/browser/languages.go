package browser

import (
	"context"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"golang.org/x/text/language"
)

// usual is what a page is asked for in where the job names no language.
const usual = "en-US"

// languages are those that an Accept-Language names, the most wanted first: scripts see no weights.
func languages(accept string) (out []string) {
	tags, _, err := language.ParseAcceptLanguage(accept)
	for _, t := range tags {
		if s := t.String(); err == nil && s != "und" && s != "mul" { // these stand for all others
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return []string{usual}
	}
	return out
}

// speak sets what scripts see of who reads the page: the agent, and the languages. An application asks for its texts in
// these, as its server does by the field of the fetcher's requests.
func (t *tab) speak(ctx context.Context, agent, accept string) error {
	if t.agent == agent && t.spoken == accept {
		return nil
	}
	list := languages(accept)
	_, err := cdp.Call(ctx, t.page, emulation.SetUserAgentOverride,
		emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: strings.Join(list, ",")})
	if err != nil {
		return err
	}
	// That the browser does not know how a language writes its numbers is no fault.
	t.page.tell(emulation.CommandSetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: list[0]})
	t.agent, t.spoken = agent, accept
	return nil
}
