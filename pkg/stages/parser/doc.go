// Package parser is the parser stage: it turns a fetched page into a [crawl.Document].
//
// Its duties, in order:
//
//  1. Read the body from the spool, at most as much as the job allows. If it was lost, tell the frontier.
//  2. Find its character encoding and convert it to UTF-8.
//  3. Collect links, title, meta elements and blocks of text in one pass over the tokens.
//  4. Keep the blocks that are the main text; drop navigation and the like.
//  5. Resolve the links against the document's base, and weigh them by the job's site rules.
//  6. Extract the fields that site rules name, from a tree that is built only then.
//
// Sitemaps and feeds become documents that have only links.
//
// If a page is so large, deeply nested or broken that links are dropped, Document.Cut says so. Time and memory are
// bounded by the page's size. The package does not decide which links are followed and does not release bodies: the
// runner does (pkg/pipeline/body.go).
package parser
