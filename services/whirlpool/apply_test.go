package main

import "testing"

func TestDocumentsOfAFile(t *testing.T) {
	jobs, schedules, err := documentsOf("id: postings # the slug\nseeds: [http://a.test/]\n---\nschedule: nightly\nworkflow: postings\n" +
		"cron: 30 2 * * *\ntz: Europe/Copenhagen\noverlap: queue\n")
	if err != nil || len(jobs) != 1 || len(schedules) != 1 || jobs[0].Slug != "postings" {
		t.Fatalf("%+v, %+v, %v", jobs, schedules, err)
	}
	s := schedules[0]
	if s.Workflow != "postings" || s.Name != "nightly" || s.Cron != "30 2 * * *" || s.Zone != "Europe/Copenhagen" || s.Overlap != "queue" {
		t.Errorf("%+v", s)
	}
	for _, text := range []string{"", "seeds: []\n", "schedule: x\ncron: '@daily'\n", "schedule: x\nworkflow: y\ncorn: '@daily'\n"} {
		if _, _, err := documentsOf(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
