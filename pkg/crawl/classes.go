package crawl

// The classes of priorities, as in the original. A job that says which of its pages are continuous, because they keep
// bringing new URLs, gives these the priorities 3 to 4 and all others 1 to 2. In either class a page that weighs more,
// by a site rule, or was found again often has the higher one. Seeds are continuous, and so are sitemaps and feeds.
const (
	bestOneTime     = 2
	worstContinuous = 3
	bestContinuous  = 4
)

// PriorityOf maps the weights 1 to 9 of site rules to the front queues; 0, no rule, to the default.
func PriorityOf(weight int) int {
	if weight <= 0 {
		return DefaultPriority
	}
	return MinPriority + (min(weight, 9)-1)*(MaxPriority-MinPriority)/8
}

// InClass is the priority of a page that a link of a weight (1 to 9; 0: none) leads to, in a job with classes.
func InClass(continuous bool, weight int) int {
	p := bestOneTime
	if continuous {
		p = worstContinuous
	}
	switch {
	case continuous && weight > 4:
		p++
	case !continuous && weight > 0 && weight <= 4:
		p--
	}
	return p
}

// BestPriority is how far the priority of a page may rise because it was found again.
func (j *Job) BestPriority(priority int) int {
	switch {
	case len(j.Continuous) == 0:
		return MaxPriority
	case priority <= bestOneTime:
		return bestOneTime
	}
	return max(priority, bestContinuous)
}
