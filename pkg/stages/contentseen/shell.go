package contentseen

import (
	"context"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// shell deals with the shell of an application that came with the word that there is no such page. It has no record,
// and its links lead nowhere, before a render has shown that there is one.
func (h *Handler) shell(ctx context.Context, job *crawl.Job, d *crawl.Document) ([]crawl.Event, error) {
	t := &d.Page.Task
	if err := h.st.Unkept.Note(ctx, t.Job, t.URL, crawl.ReasonMissing); err != nil {
		return nil, fmt.Errorf("content of %s: %w", t.URL, err)
	}
	r, err := h.wish(ctx, job, d)
	if err != nil {
		return nil, fmt.Errorf("render of %s: %w", t.URL, err)
	}
	if r != nil {
		r.Before = crawl.Before{} // all that the render shows is new
		return []crawl.Event{r}, nil
	}
	if h.st.Attempts == nil {
		return nil, nil
	}
	return nil, h.st.Attempts.Append(ctx, crawl.LogLine{Job: t.Job, At: d.Page.FetchedAt, URL: t.URL, Kind: t.Kind,
		Verdict: crawl.VerdictGone, Status: d.Page.Status, Reason: crawl.ReasonMissing,
		Detail: "the server says that there is no such page, and the shell that it sent is not rendered", Bytes: d.Page.Bytes,
		Attempt: t.Attempt + 1, Depth: t.Depth, ContentType: d.ContentType, Digest: d.Page.Digest, Referrer: t.Referrer,
		Epoch: t.Epoch})
}

// adopt stores what the render of a shell shows, unless another page has it: an application that shows its first page,
// or the same words, for all that it does not know has no page there.
func (h *Handler) adopt(ctx context.Context, job *crawl.Job, d *crawl.Document, part *crawl.RenderedPart) error {
	p := &d.Page
	fetched := p.Digest
	p.Digest = p.Rendered.Digest // what tells copies apart is what people would see
	r, verdict, err := h.recordOf(ctx, job, d)
	p.Digest = fetched
	if err != nil {
		return err
	}
	if verdict.Sameness != crawl.Original {
		d.Unkept = crawl.ReasonMissing
		return nil
	}
	if ok, err := h.askPlugins(ctx, job, d, r); err != nil || !ok {
		return err
	}
	r.Digest, r.Rendered = fetched, part
	if err := h.st.Pages.Put(ctx, r); err != nil {
		return fmt.Errorf("store its record: %w", err)
	}
	return h.searchable(ctx, job, r)
}

// shortNotice is how much text, in octets, a page may have that says that there is no such page, with all that stands
// around it.
const shortNotice = 2000

// isMissing reports whether what an application shows for an address that its server does not know says that there is
// no such page: it shows nothing, is not to be indexed, or says so in its title, or in little text.
func isMissing(d *crawl.Document) bool {
	text := strings.TrimSpace(d.Text)
	return text == "" || d.NoIndex || saysMissing(d.Title) || len(text) < shortNotice && saysMissing(text)
}

// ledOn is where a page without a word leads: its script goes to the application, with the address in its query. Links
// of any other page that is not found are those of all pages.
func ledOn(d *crawl.Document) []crawl.Link {
	if len(d.Links) == 1 && !d.NoIndex && strings.TrimSpace(d.Text) == "" {
		return d.Links
	}
	return nil
}

// saysMissing reports whether a text has words of pages that are not found.
func saysMissing(text string) bool {
	text = strings.ToLower(text)
	for _, words := range missingWords {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

var missingWords = []string{"404", "not found", "couldn't find", "could not find", "couldn’t find", "doesn't exist",
	"doesn’t exist", "does not exist", "no longer exists", "can't be found", "can’t be found", "cannot be found",
	"could not be found", "couldn't be found", "couldn’t be found", "nicht gefunden", "existiert nicht", "introuvable",
	"n'existe pas", "n’existe pas", "no encontrad", "no existe", "non trovat", "não encontrad", "não existe",
	"niet gevonden", "bestaat niet", "hittades inte", "ikke funnet", "ikke fundet", "ei löytynyt", "nie znaleziono",
	"nenalezen", "nem található", "bulunamadı", "не найден", "не знайден", "δεν βρέθηκε", "見つかりません",
	"未找到", "找不到", "不存在", "찾을 수 없", "لم يتم العثور", "לא נמצא"}
