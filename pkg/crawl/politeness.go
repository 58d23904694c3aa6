package crawl

import (
	"math"
	"time"
)

// Preset names a kind of politeness.
type Preset string

// Mercator is the politeness of the original: the next request starts K times as long after the last as that took,
// where K is the Crawl-delay in seconds, or 10 where a site asks for none.
const Mercator Preset = "mercator"

// mercatorK is K where a site asks for no Crawl-delay.
const mercatorK = 10

// PresetPoliteness returns the politeness that a preset stands for; ok is false where there is none of the name.
func PresetPoliteness(p Preset) (out Politeness, ok bool) {
	out = DefaultJob().Politeness
	switch p {
	case "":
		return out, true
	case Mercator:
		out.Preset, out.Delay, out.IPDelay, out.DownloadFactor, out.MaxAdaptive = p, 0, 0, mercatorK, out.MaxCrawlDelay
		return out, true
	}
	return out, false
}

// Adapts reports whether the time that a request took counts.
func (p *Politeness) Adapts() bool { return p.Delay > 0 || p.Preset == Mercator }

// Counts is the time that counts of a request that took so long, to a host with a Crawl-delay and so many links to it:
// download_factor times that is to be waited. By the preset mercator the Crawl-delay stands for the factor. A popular
// host bears more (PopularityOf).
func (p *Politeness) Counts(took, crawlDelay time.Duration, links int) time.Duration {
	t := float64(took)
	if p.Preset == Mercator && crawlDelay > 0 && p.DownloadFactor > 0 {
		t *= crawlDelay.Seconds() / p.DownloadFactor
	}
	return time.Duration(t / (1 + p.PopularityOf(links)))
}

// PopularityOf is what the links to a host from other hosts count: popularity × log10(1 + links). The time that
// download_factor asks for is divided by 1 more than that, and the priority of the host's pages is raised by its whole
// part, by maxPopular at most. With popularity 0 it is 0.
func (p *Politeness) PopularityOf(links int) float64 {
	if p.Popularity <= 0 || links <= 0 {
		return 0
	}
	return p.Popularity * math.Log10(1+float64(links))
}

// maxPopular is by how much the links to a host raise the priority of its pages.
const maxPopular = 2

// PopularPriority is a priority as the links to the host raise it.
func (p *Politeness) PopularPriority(priority, links int) int {
	return min(priority+min(int(p.PopularityOf(links)), maxPopular), MaxPriority)
}
