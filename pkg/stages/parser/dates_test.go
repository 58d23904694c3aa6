package parser

import "testing"

func TestWrittenDates(t *testing.T) {
	for s, want := range map[string]any{
		"6. Mai 2024": "2024-05-06T00:00:00Z", "6 mai 2024": "2024-05-06T00:00:00Z",
		"1er août 2024 à 14:05": "2024-08-01T14:05:00Z", "Lunes, 6 de mayo de 2024": "2024-05-06T00:00:00Z",
		"Monday, 6th May 2024 at 3:04 PM": "2024-05-06T15:04:00Z", "May 6th, 2024 12:30am": "2024-05-06T00:30:00Z",
		"6. März 2024, 15:04 Uhr": "2024-03-06T15:04:00Z", "2024年5月6日": "2024-05-06T00:00:00Z",
		"6 мая 2024 г.": "2024-05-06T00:00:00Z", "Sept. 6, 2024": "2024-09-06T00:00:00Z",
		"6 FÉVR. 2024":     "2024-02-06T00:00:00Z",
		"31 February 2024": nil, "May 2024": nil, "6 May": nil, "3 days ago": nil, "Room 12, May 2024": nil,
		"6 May 2024 25:00": nil, "6 May 2024 at 13:00 PM": nil, "6 May 2024 7": nil, "": nil, "pm": nil, ",": nil,
	} {
		if got, _ := toDate(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}
