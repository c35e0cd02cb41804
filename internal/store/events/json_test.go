package events

import (
	"encoding/json"
	"testing"
	"time"

	"carillon"
)

func TestAPayloadIsWrittenAsTheLibraryDoes(t *testing.T) {
	for _, text := range []string{"", "plain ~", `a "b" \\c`, "<b>&", "ü \u2028 \x7f\x01\n", "\xff", "x"} {
		for _, n := range []int{0, 1, -7, 1 << 40} {
			for _, call := range []*callPayload{nil, {CallID: text, Direction: "incoming"}} {
				p := payload{
					Version: 1, NotificationID: text, MessageID: text, Number: text, Campaign: text, SenderID: text, Recipients: n,
					State:    carillon.State(text),
					Previous: carillon.State(text), Reason: carillon.Reason(text), Attempt: n,
					At: carillon.FormatTime(time.UnixMilli(1_800_000_000_000)), callPayload: call,
				}
				want, err := json.Marshal(p)
				if got := p.json(); err != nil || string(got) != string(want) {
					t.Errorf("%s, not %s; %v", got, want, err)
				}
			}
		}
	}
}
