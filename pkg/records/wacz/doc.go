// Package wacz packs an archive of exchanges (package warc) into a file in the Web Archive Collection Zipped format,
// version 1.1.1, which ReplayWeb.page and others show:
//
//	archive/*.warc.gz        the files of the archive, stored as they are, so that readers get records by their offsets
//	indexes/index.cdx.gz     CDXJ, a line a capture, sorted by SURT and time, in gzip members of 3,000 lines, stored
//	indexes/index.idx        where each of these members begins
//	pages/pages.jsonl        the pages of the crawl
//	datapackage.json         what the package holds, with sizes and SHA-256
//	datapackage-digest.json  the SHA-256 of that
//
// The order of URLs and times is kept on disk while it is made, so that memory stays bounded. The file is whole or not
// there.
package wacz
