// Package sitemap reads sitemaps and feeds as sources of links: XML sitemaps and their indexes (sitemaps.org 0.9),
// text sitemaps, RSS 0.9x, 1.0 and 2.0, Atom (RFC 4287), JSON Feed (jsonfeed.org).
//
// Its duties, in order:
//
//  1. Unpack: gzip is undone, everything becomes UTF-8, by byte order mark or XML declaration.
//  2. Sniff: the root element, or the first line, says what it is.
//  3. Stream: links are handed on one by one as they are read; nothing but the current entry is held.
//  4. Account: what was cut or broken, and where, is in Stats. Links before a fault are never lost.
//
// It must never expand entities beyond those of XML and HTML, resolve URLs or judge them, fetch anything, or hold more
// than a token and an entry of a document in memory, however hostile.
package sitemap
