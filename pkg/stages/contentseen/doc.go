// Package contentseen is the content-seen stage: it decides whether a page is new, an exact copy or a near-duplicate of
// one seen before, stores its record, and passes its links on.
//
// Its duties, in order, for each parsed page:
//
//  1. Fingerprint the main text: a 64-bit simhash (Charikar 2002; Manku, Jain, Das Sarma 2007) and a sketch of its
//     four-word shingles (Broder 1997; Li, Owen, Zhang 2012), in one pass over its words.
//  2. Claim the fingerprint in the [crawl.ContentSet], which finds and compares the near ones by an index of its own
//     (pkg/stores/local/simhashindex.go, pkg/stores/postgres/contentset.go). Of copies claimed at once one is the
//     original.
//  3. Store the record: whole for an original, without text, fields and links for a copy.
//  4. Hand the links to the URL filter, unless the page is an exact copy whose links lead to the same URLs.
//
// A near-duplicate takes two witnesses: simhashes at most as far apart as the job says, and sketches whose estimated
// resemblance is at least [Resemblance]. Simhash alone had precision .50 on 1.6 billion pages, both together .79
// (Henzinger 2006). Texts of fewer than [MinFeatures] words are compared by their bytes only.
//
// The stage must never need the body: a message that comes again after the runner released the body is answered from
// the document alone, with the same verdict and the same events. It must never store a page that asked not to be
// indexed.
package contentseen
