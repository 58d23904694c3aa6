package main

// crawlLong and crawlExamples are the help of `whirlpool crawl`.
const crawlLong = `Crawl starts at the URLs and follows the links that lie in the scope. The directory holds what it
found:

  pages.jsonl   a record a page: URL, title, text, links, fields, digest …; pages.jsonl.zst with --compress
  crawl.log     a line an attempt or a skipped URL, with the reason
  warc/         the raw exchanges, with --warc
  state/        what a resumed crawl needs

Ctrl-C finishes what is in flight and stops; the same command resumes where it stopped, and so does "whirlpool crawl -o
DIR". It may be killed at any instant. With other settings the crawl continues under these: it is narrowed or widened in
place, after saying what changes. "whirlpool set" does that while it runs.

--seeds reads further URLs from a file or standard input while the crawl runs, as many as there are; - for a URL is
short for --seeds -. A line that is no URL is told with its number, and the others are crawled. With --url-list the URLs
are fetched and nothing is followed. A crawl that was killed reads on where it was; standard input is given again.

With -o - the records go to standard output as JSON lines, and progress to standard error. Such a crawl cannot go on
once it was stopped: what it has to remember lies in a temporary directory, which it removes at its end. A page that is
rendered or visited again has another line: the last of a URL counts. --fields and --urls choose what is written, and
imply -o -.

The exit status is 0 when the crawl ended, 4 when --max-time or --max-bytes ended it before its URLs were done, 3 when
it was stopped, 2 when the command or the job file is at fault, and 1 when the crawl failed or no page could be fetched.`

const crawlExamples = `  whirlpool crawl https://example.com/
  whirlpool crawl -c jobs.yml --max-pages 500 -o jobs
  whirlpool crawl http://127.0.0.1:8000/ --allow-private --delay 0s
  whirlpool crawl -o - https://example.com/ | jq -r .title
  whirlpool crawl --fields url,title,fields.price https://example.com/
  whirlpool crawl --urls found https://example.com/ > urls.txt
  whirlpool crawl --seeds urls.txt --max-depth 2 -o found
  zcat urls.gz | whirlpool crawl - --scope host
  whirlpool crawl --url-list urls.txt -o pages`
