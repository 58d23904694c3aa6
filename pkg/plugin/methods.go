package plugin

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// Point implements Message.
func (*Seeds) Point() crawl.Point { return crawl.AtProvider }

// Word implements Message.
func (*Seeds) Word() string { return "seeds" }

// Point implements Message.
func (*Request) Point() crawl.Point { return crawl.AtRequest }

// Word implements Message.
func (*Request) Word() string { return "req" }

// Point implements Message.
func (*Response) Point() crawl.Point { return crawl.AtResponse }

// Word implements Message.
func (*Response) Word() string { return "resp" }

// Point implements Message.
func (*Document) Point() crawl.Point { return crawl.AtDocument }

// Word implements Message.
func (*Document) Word() string { return "doc" }

// Point implements Message.
func (*Links) Point() crawl.Point { return crawl.AtLinks }

// Word implements Message.
func (*Links) Word() string { return "links" }

// Point implements Message.
func (*Record) Point() crawl.Point { return crawl.AtRecord }

// Word implements Message.
func (*Record) Word() string { return "record" }

// Point implements Message.
func (*Delivery) Point() crawl.Point { return crawl.AtOutput }

// Word implements Message.
func (*Delivery) Word() string { return "delivery" }
