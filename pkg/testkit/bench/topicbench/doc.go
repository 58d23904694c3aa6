// Package topicbench measures topical crawling on the stored pages of a real crawl: how well models tell a topic with
// few and with many examples, how many pages about it a crawl has after its first few hundred, best first and breadth
// first over the same links, and what a page costs.
//
// What a page is about is told by its path, which no model sees. Pages whose URL hashes to an even number are for
// training, the others are for tests; examples are never counted.
package topicbench
