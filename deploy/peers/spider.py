"""The plainest whole-site spider in Scrapy: it follows links on the given hosts and keeps URL, title and text of each page.
`whirlpool bench peers` compares it with others. Run: scrapy runspider spider.py -O FILE -a seeds=URL,… -a hosts=NAME,…"""

import scrapy
from scrapy.linkextractors import LinkExtractor


class Spider(scrapy.Spider):
    name = "peer"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 0,
        "RETRY_ENABLED": True,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }

    def __init__(self, seeds="", hosts="", **kw):
        super().__init__(**kw)
        self.start_urls = seeds.split(",")
        self.allowed_domains = hosts.split(",")
        self.links = LinkExtractor()

    def parse(self, response):
        if not hasattr(response, "text"):
            return
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "text": " ".join(response.css("body ::text").getall()),
        }
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
