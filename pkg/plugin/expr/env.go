package expr

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// What expressions see, by point. The budget has a name that no expression can write.
type (
	seedsEnv struct {
		Seeds  *plugin.Seeds `expr:"seeds"`
		Budget *budget       `expr:"#budget"`
	}
	seedEnv struct {
		Seeds  *plugin.Seeds `expr:"seeds"`
		Seed   *plugin.Seed  `expr:"seed"`
		Budget *budget       `expr:"#budget"`
	}
	requestEnv struct {
		Request *plugin.Request `expr:"req"`
		Budget  *budget         `expr:"#budget"`
	}
	responseEnv struct {
		Response *plugin.Response `expr:"resp"`
		Budget   *budget          `expr:"#budget"`
	}
	documentEnv struct {
		Document *plugin.Document `expr:"doc"`
		Budget   *budget          `expr:"#budget"`
	}
	linksEnv struct {
		Links  *plugin.Links `expr:"links"`
		Budget *budget       `expr:"#budget"`
	}
	linkEnv struct {
		Links  *plugin.Links `expr:"links"`
		Link   *plugin.Link  `expr:"link"`
		Budget *budget       `expr:"#budget"`
	}
	recordEnv struct {
		Record *plugin.Record `expr:"record"`
		Budget *budget        `expr:"#budget"`
	}
	deliveryEnv struct {
		Delivery *plugin.Delivery `expr:"delivery"`
		Record   *plugin.Record   `expr:"record"` // that of the delivery
		Budget   *budget          `expr:"#budget"`
	}
)

// sampleOf returns what the types are checked by; nil where there is no such point.
func sampleOf(at crawl.Point, items bool) any {
	switch at {
	case crawl.AtProvider:
		if items {
			return seedEnv{}
		}
		return seedsEnv{}
	case crawl.AtRequest:
		return requestEnv{}
	case crawl.AtResponse:
		return responseEnv{}
	case crawl.AtDocument:
		return documentEnv{}
	case crawl.AtLinks:
		if items {
			return linkEnv{}
		}
		return linksEnv{}
	case crawl.AtRecord:
		return recordEnv{}
	case crawl.AtOutput:
		return deliveryEnv{}
	}
	return nil
}

// envOf returns what an expression sees of a message, with a fresh budget.
func envOf(m plugin.Message, items bool, index int) (any, error) {
	b := &budget{}
	switch m := m.(type) {
	case *plugin.Seeds:
		if !items {
			return seedsEnv{m, b}, nil
		} else if index < len(m.Seeds) {
			return seedEnv{m, &m.Seeds[index], b}, nil
		}
	case *plugin.Request:
		return requestEnv{m, b}, nil
	case *plugin.Response:
		return responseEnv{m, b}, nil
	case *plugin.Document:
		return documentEnv{m, b}, nil
	case *plugin.Links:
		if !items {
			return linksEnv{m, b}, nil
		} else if index < len(m.Links) {
			return linkEnv{m, &m.Links[index], b}, nil
		}
	case *plugin.Record:
		return recordEnv{m, b}, nil
	case *plugin.Delivery:
		return deliveryEnv{m, m.Record, b}, nil
	}
	return nil, fmt.Errorf("a %T has no part %d", m, index)
}
