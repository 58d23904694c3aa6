package topic

// Lessons are after how many pages a crawl that has nothing but examples learns: the pages that it has fetched by then
// are the background of its model. Without a model all pages are alike, so what comes before the first lesson is a
// sample of the sites; the last one is late enough for most of what a site says on all of its pages. One lesson more,
// after 20 pages, was measured, and led astray.
var Lessons = []int{60, 150, 400}

// MayBe is the probability from which on a page is none of the background: it may be about the topic.
const MayBe = 0.3

// LinkText is what the text of a link counts beside the page that it stands in: a table of contents is about nothing,
// and its links say where they lead.
const LinkText = 0.9
