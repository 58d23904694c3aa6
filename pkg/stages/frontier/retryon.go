package frontier

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// judgeNamed judges a failure by retry.on, and reports whether that decides: a failure that it does not name is not
// repeated, and an answer that it names is, though it would have been the last word.
func (r *result) judgeNamed() bool {
	repeat, named := r.job.Retry.Repeats(&r.Outcome)
	switch {
	case !named:
		return false
	case !repeat && r.Verdict == crawl.VerdictRetry:
		r.Verdict = crawl.VerdictFailed
		r.Detail += "; it is not repeated: retry.on does not name it"
		return true
	case repeat && (r.Verdict == crawl.VerdictGone || r.Verdict == crawl.VerdictBlocked) &&
		r.Task.Attempt < r.job.Retry.Max:
		r.Verdict = crawl.VerdictRetry
		return true
	}
	return false
}
