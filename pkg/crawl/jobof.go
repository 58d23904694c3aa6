package crawl

// JobOf is the job that an event belongs to; empty: none.
func JobOf(e Event) JobID {
	switch e := e.(type) {
	case *Fetch:
		return e.Task.Job
	case *Outcome:
		return e.Task.Job
	case *Page:
		return e.Task.Job
	case *Document:
		return e.Page.Task.Job
	case *Render:
		return e.Page.Task.Job
	case *Links:
		return e.Task.Job
	case *Filtered:
		return e.Job
	case *Claim:
		return e.Job
	case *Fresh:
		if len(e.Tasks) > 0 {
			return e.Tasks[0].Job
		}
	}
	return ""
}
