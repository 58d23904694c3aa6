package elements

import "testing"

func TestLasting(t *testing.T) {
	for class, want := range map[string]bool{
		"price": true, "text-body": true, "order-number": true, "content-main": true, "top-story": true, "list-item": true,
		"table-row": true, "badge--sale": true, "col-price": true, "flexible": true, "rowspan": true, "grid-item": true,
		"text": true, "mw-body": true, "text-sm": false, "md:flex": false, "w-1/2": false, "mt-[3px]": false, "-mt-2": false,
		"bg-gray-50": false, "odd": false, "is-open": false, "col-md-6": false, "d-flex": false, "grid-cols-4": false,
		"rounded-lg": false, "py-0.5": false, "active": false, "row": false,
	} {
		if Lasting(class) != want {
			t.Errorf("lasting(%q) = %v", class, !want)
		}
	}
}
