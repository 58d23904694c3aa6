package due

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// broadHostBudget and broadDomainBudget are the number of URLs that a host and a registrable domain may have in a
// crawl without scope, where the job sets none (as in IRLbot and BUbiNG, an order of magnitude more generous).
const (
	broadHostBudget   = 10_000
	broadDomainBudget = 50_000
)

// limits are the URLs that a host and a registrable domain may have; 0: any number.
func limits(job *crawl.Job) (perHost, perDomain int) {
	perHost, perDomain = job.PagesPerHost, job.PagesPerDomain
	if job.Scope == crawl.ScopeAny {
		if perHost == 0 {
			perHost = broadHostBudget
		}
		if perDomain == 0 {
			perDomain = broadDomainBudget
		}
	}
	return perHost, perDomain
}

// Sitemaps and feeds are no pages, so they have budgets of their own, in proportion to the pages that may come of
// them: sitemapsMin, and one for every pagesPerSitemap pages; sitemapsMax where there is no limit of pages.
const (
	sitemapsMin     = 20
	pagesPerSitemap = 10
	sitemapsMax     = 10_000
)

// sitemapsFor is how many sitemaps and feeds may be read for so many pages; 0: for any number.
func sitemapsFor(pages int) int {
	if pages <= 0 {
		return sitemapsMax
	}
	return min(sitemapsMin+pages/pagesPerSitemap, sitemapsMax)
}

// overSitemaps spends the budgets of sitemaps and feeds: a host has half of what its domain may have, and that half
// of the job's, so that no site takes what others need.
func (h *Handler) overSitemaps(ctx context.Context, job *crawl.Job, t *crawl.Task) (reason string, err error) {
	perHost, perDomain := limits(job)
	all := sitemapsFor(job.MaxPages)
	for _, b := range []struct {
		key   string
		limit int
	}{
		{"sh" + t.URL.HostKey(), min(all/4, sitemapsFor(perHost))},
		{"sd" + t.URL.RegistrableDomain(), min(all/2, sitemapsFor(perDomain))},
		{"sj", all},
	} {
		if ok, err := h.spend(ctx, job, b.key, b.limit); !ok {
			return crawl.ReasonSitemapBudget, err
		}
	}
	return "", nil
}

// overAssets spends the budgets of assets. They are none of the pages', which they must not take from.
func (h *Handler) overAssets(ctx context.Context, job *crawl.Job, t *crawl.Task) (reason, rule string, err error) {
	all, host := job.Assets.Limits()
	if host > 0 {
		if ok, err := h.spend(ctx, job, "ah"+t.URL.HostKey(), host); !ok {
			return crawl.ReasonAssetBudget, fmt.Sprint("assets.per_host ", host), err
		}
	}
	if all > 0 {
		if ok, err := h.spend(ctx, job, "aj", all); !ok {
			return crawl.ReasonAssetBudget, fmt.Sprint("assets.max ", all), err
		}
	}
	return "", "", nil
}
