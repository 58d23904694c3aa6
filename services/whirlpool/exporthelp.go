package main

import (
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
)

// exportLong and exportExamples are the help of `whirlpool export`.
var exportLong = `Export turns pages.jsonl, or the records of a cluster's job, into a table: a row a page, a column for
each key of a record, and field.NAME for what site rules extracted. It works while the crawl runs: then it holds the
pages stored so far.

Columns: ` + strings.Join(export.Columns(), ", ") + `, field.NAME.

Without --columns, CSV has all columns but the lists and every field of the rules, Parquet has all, and JSON Lines the
records as they are. In Parquet fields have the types of the job's rules: numbers, integers, booleans, dates and lists
of them. A field with a value that does not fit, of a page from before the rules were changed, is text. Without FILE it
writes to standard output.

Two formats are made of the archive (--warc of crawl, or the warc setting of a cluster's fetchers) instead of the
records: wacz, a file for ReplayWeb.page and other readers of web archives, and mirror, a directory with a copy that can
be browsed without a network. For a cluster --warc names the directories of the archives, which must be reachable from
here.

--outputs DIR writes what the nodes at output of a cluster's job ask for, with their columns and conditions: each file
from all records that there are, whole or not at all, so that the command can be killed and given again.`

const exportExamples = `  whirlpool export -o jobs jobs.csv
  whirlpool export -o jobs --columns url,field.title,field.company,field.location jobs.csv
  whirlpool export --format jsonl --originals | jq -r .title
  whirlpool export pages.parquet
  whirlpool export --format markdown -o jobs notes
  whirlpool export -o jobs --format mirror copy
  whirlpool export -o jobs jobs.wacz
  whirlpool export --cluster=node.yml --job example-com pages.parquet
  whirlpool export --cluster=node.yml --job example-com --outputs tables
  whirlpool export --cluster=node.yml --job example-com --warc /srv/warc/node1 --format mirror copy`
