# What a crawl of so many pages takes: docs/scale.md. Every figure can be set with -v; those not set are the defaults
# below.
#   awk -f docs/scale.awk                                    the table
#   awk -v cpu_eur=0.01 -v days=10 -f docs/scale.awk         with prices and times of one's own
function given(value, otherwise) { return value == "" ? otherwise : value }
function ceil(x) { return x == int(x) ? x : int(x) + 1 }
function nodes_for(rate) { return ceil(rate * node_ms / 1000 / (cores * use)) }
# messages a page on n nodes: those of one node, and one more for each other node that owns one of the hosts linked to
function messages(n) { return base + (n - 1) * (1 - (1 - 1 / n) ^ hosts) }
function row(pages,    rate, n, m, i) {
	rate = pages / (days * 86400)
	n = 1
	for (i = 0; i < 20; i++) { node_ms = programs_ms + messages(n) * message_ms; n = nodes_for(rate) }
	m = messages(n)
	pg_ms = pg_page_ms + unique * claim_us / 1000 + (n > 1 ? (m - base + 3) * follow_us / 1000 : 0)
	pg_tb = pages * unique * url_octets / 1e12
	mongo_tb = pages * record_octets / 1e12
	warc_tb = pages * warc_octets / 1e12
	cpu = pages * (node_ms + pg_ms + mongo_ms + rest_ms) / 1000 / use / 3600 * cpu_eur
	disk = (pg_tb + mongo_tb) * 1000 * disk_eur * days / 30 + warc_tb * 1000 * object_eur * days / 30
	printf "%8.0e %10.0f %7d %12.0f %12.0f %8.1f %8.1f %8.1f %8.1f %10.0f %10.0f %10.1e\n", pages, rate, n, rate * m, rate * unique, rate * pg_ms / 1000 / use,
		pg_tb, mongo_tb, warc_tb, cpu, disk, (cpu + disk) / pages
}
BEGIN {
	days = given(days, 30); use = given(use, 0.7); cores = given(cores, 2)
	programs_ms = given(programs_ms, 1.40); message_ms = given(message_ms, 0.20); mongo_ms = given(mongo_ms, 0.97); rest_ms = given(rest_ms, 0.09)
	base = given(base, 7.2); hosts = given(hosts, 5)
	pg_page_ms = given(pg_page_ms, 0.45); claim_us = given(claim_us, 40); follow_us = given(follow_us, 40)
	unique = given(unique, 6.4); url_octets = given(url_octets, 310); record_octets = given(record_octets, 6000); warc_octets = given(warc_octets, 30000)
	cpu_eur = given(cpu_eur, 0.02); disk_eur = given(disk_eur, 0.08); object_eur = given(object_eur, 0.02)
	printf "%8s %10s %7s %12s %12s %8s %8s %8s %8s %10s %10s %10s\n", "pages", "pages/s", "nodes", "messages/s", "new URLs/s", "PG cores", "PG TB", "Mongo TB", "WARC TB",
		"EUR CPU", "EUR disks", "EUR/page"
	row(1e9); row(1e10); row(1e11); row(1e12)
}
