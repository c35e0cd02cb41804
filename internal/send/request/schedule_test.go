package request

import (
	"testing"

	"carillon"
	"carillon/internal/base/jsonbody"
)

func TestScheduleReadsABodyThatMovesANotification(t *testing.T) {
	o, err := jsonbody.Parse([]byte(`{"datetime_sending":"2027-01-15T09:00:00","timezone":"Europe/Madrid"}`))
	if err != nil {
		t.Fatal(err)
	}
	at, given, err := Schedule(o, testNow)
	if err != nil || !given || carillon.FormatTime(at) != "2027-01-15T08:00:00Z" {
		t.Errorf("got %v, %v, %v", at, given, err)
	}
	if _, _, err := Schedule(o, at); asError(t, err).Message != pastForm {
		t.Errorf("got %v", err)
	}
}
