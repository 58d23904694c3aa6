// Package htmlscan cuts an HTML document that lies in memory into tokens, in place.
//
// It follows the tokenization of the HTML Standard (13.2.5) as far as links and text can tell the difference. Its
// duties, in order:
//
//  1. find each token's end, in time linear in the input whatever the input is;
//  2. say what it is: text, a start tag, an end tag, or something to pass over (comments, doctypes);
//  3. give tag names as small numbers, attributes and text as slices of the input, decoded only on demand.
//
// It exists because golang.org/x/net/html's tokenizer, which reads from an io.Reader byte by byte and copies names and
// values, takes several times as long, and gives up at a token larger than its buffer. The tests hold the two against
// each other on random documents.
//
// It must never write to the document, keep a copy of it, or stop before its end.
package htmlscan
