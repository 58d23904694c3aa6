// Package jsonl is the format of the two files a crawl leaves behind: pages.jsonl, a record a line, and crawl.log, a
// fetch attempt or a skipped URL a line. Both are JSON Lines: UTF-8, one JSON object a line, each line ended by "\n".
//
// Its duties, in order:
//
//  1. Append a record or a log line to a buffer, fast and without allocating: pages.jsonl is on the hot path of a
//     crawl.
//  2. Keep the order of the fields fixed, so that the files can be compared, cut and read by people.
//  3. Read the lines back.
//
// # Fields of a record
//
// Always present, in this order: url, final_url, status, fetched_at, depth, referrer, content_type, charset, bytes,
// digest, simhash, title, lang, text, links, assets (only when there are any), fields, duplicate_of. Then, when set:
// similarity, canonical, truncated, cut, epoch: the revision of the job by which the record was made, unless it is
// the first, and visit: which of the visits of the URL it is of, unless it is the first.
//
// A record that was replaced may still be in the file. Its first key is "was" in the place of "url", and the rest is
// as it was: IsReplaced. Readers pass over it.
//
//   - Times are RFC 3339 in UTC with milliseconds.
//   - digest is "sha256:" and 64 hexadecimal digits, or "" when there is none; simhash is 16 hexadecimal digits.
//   - A link is {"url", "rel", "text", "weight"}; all but url only when set. url is the text as it was in the page
//     where it names nothing that can be crawled.
//   - fields is an object from a field's name to its value: a string, number, boolean, null or a list of them. Of
//     several fields with one name the first stands.
//
// # Fields of a log line
//
// time, url, kind, verdict, status, then, when not empty: reason, detail, bytes, ms, first_byte_ms, attempt, depth,
// content_type, digest, addr, referrer, location, epoch (as in a record). ms and first_byte_ms are milliseconds, exact
// to the microsecond. A skipped URL has the verdict "excluded" or "blocked", its reason, and the status 0.
//
// The package never writes a byte that is not valid UTF-8, whatever the page held: each invalid byte becomes U+FFFD.
package jsonl
