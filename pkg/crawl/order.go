package crawl

import "fmt"

// Order says which URLs of a job come first.
type Order string

// The orders.
const (
	OrderPriority Order = "priority" // higher priorities first, mostly
	OrderBreadth  Order = "breadth"  // no URL while one of lesser depth can still be fetched
)

func checkOrder(j *Job) (errs []error) {
	if j.Order != "" && j.Order != OrderPriority && j.Order != OrderBreadth {
		errs = append(errs, &KeyError{"order", fmt.Sprintf("%q: want priority or breadth", j.Order)})
	}
	return errs
}
