package topic

// A crawl that has nothing but examples makes its model of them and of its first pages, which it fetches in no order
// of promise: a sample of its sites. So many are enough for most of what sites say on all of their pages. To make
// models earlier, and anew as the crawl goes on, was measured: a poor model finds poor pages, and what it finds about
// the topic comes to stand for what is not.
const (
	mostSeen  = 400
	leastSeen = 60
	seenPart  = 10 // of the pages that the crawl may have
)

// Lesson is of how many pages a crawl makes its model that may have so many; 0: any number.
func Lesson(maxPages int) int {
	if maxPages <= 0 {
		return mostSeen
	}
	return min(max(maxPages/seenPart, leastSeen), mostSeen)
}

// LinkText is what the text of a link counts beside the page that it is in: a table of contents is about nothing,
// and its links say where they lead.
const LinkText = 0.9
