// Package parser is the parser stage: it turns a fetched page into a [crawl.Document].
//
// Its duties, in order:
//
//  1. read the body from the spool, at most as much as the job allows; of one that was lost, tell the frontier;
//  2. find its character encoding and make it UTF-8;
//  3. in one pass over the tokens collect links, title, meta elements and blocks of text;
//  4. keep the blocks that are the page's main text, and drop navigation and the like;
//  5. resolve the links against the document's base, and weigh them by the job's site rules;
//  6. extract the fields that site rules name, from a tree that is built only then.
//
// Sitemaps and feeds become documents that have links only.
//
// It must never lose a link to the size, nesting or brokenness of a page without saying so in Document.Cut, take time
// or memory that the page's size does not explain, judge which links are followed, or release a body: the stages after
// it do the latter two.
package parser
