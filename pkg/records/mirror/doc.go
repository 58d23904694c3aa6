// Package mirror writes a copy of a crawl that can be browsed without a network, out of the archive of its exchanges
// (package warc). What it writes follows from the archive alone, so it is right after any crash: it is made anew.
//
// Duties, in order:
//
//  1. Read the archive: of each URL the last answer with a body, or where it redirects to.
//  2. Give each a file name: host, path and query of its URL, made safe (see name.go). URLs whose files would be one on
//     any usual file system get different ones, and the names do not depend on the order of the crawl.
//  3. Write the files. In pages and style sheets, references to what has a file lead there, over redirects, relative to
//     the file they are in; all others become absolute. These and scripts become UTF-8. Everything else is copied.
//
// Nothing is written outside of the directory, whatever URLs and answers are.
package mirror
