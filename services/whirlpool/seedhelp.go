package main

// seedLong and seedExamples are the help of `whirlpool seed`.
const seedLong = `Seed submits a job to a cluster and queues its seeds. The job is made as "whirlpool crawl" makes it: a
job file, flags, URLs. A job that exists gets the URLs as further seeds and keeps its settings, but for those that flags
name, or all of them with -c. What changes is said. Nothing is fetched twice for it.

--seeds and --url-list read URLs from a file or standard input, as many as there are. Whoever is killed while they are
read gives the same command again: nothing is queued twice.

With --retry and no URL it queues those URLs of the job again that ended so, by the settings that flags give it now:
what was refused, say, before --allow-private or media_types permitted it.`

const seedExamples = `  whirlpool seed -c crawl.yml --cluster=node.yml
  whirlpool seed https://example.com/ --max-pages 1000 --cluster
  whirlpool seed --cluster --job example-com --retry refused --allow-private`
