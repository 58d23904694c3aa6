package topic

// Lessons are after how many pages a crawl that has nothing but examples learns: the pages that it has fetched by then
// are the background of its model. The first lesson is early, because without a model all pages are alike; the last one
// is late enough for most of what a site says on all of its pages.
var Lessons = []int{20, 60, 150, 400}
