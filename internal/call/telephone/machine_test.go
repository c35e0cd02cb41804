package telephone

import (
	"testing"
	"time"
)

// said is speech, the pause after it, and its transcript.
type said struct {
	speech, pause time.Duration
	text          string
}

func TestAMachineGoesOnWhereAPersonWaits(t *testing.T) {
	const ms = time.Millisecond
	for name, x := range map[string]struct {
		says    []said
		machine bool
	}{
		"a person who says who they are": {
			[]said{{speech: 900 * ms, pause: 2 * time.Second}, {speech: 2 * time.Second, pause: time.Second}}, false,
		},
		"a person who responds at once": {
			[]said{
				{600 * ms, 500 * ms, "7"},
				{600 * ms, 500 * ms, "Harbour"},
				{1200 * ms, 500 * ms, "600"},
				{1800 * ms, 500 * ms, "600111222"},
			}, false,
		},
		"a machine": {[]said{{speech: 3600 * ms}}, true},
		"a machine that greets first": {
			[]said{{600 * ms, 500 * ms, "Hello."}, {1500 * ms, 300 * ms, "You have reached the harbour."}, {2 * time.Second, 0, ""}}, true,
		},
		"a machine that is understood":       {[]said{{1500 * ms, 500 * ms, "You have reached the harbour."}, {1800 * ms, 0, ""}}, true},
		"somebody who speaks for long later": {[]said{{speech: 900 * ms, pause: 7500 * ms}, {speech: 5 * time.Second}}, false},
	} {
		m := &machine{rate: 8000}
		frames := func(d time.Duration, level int16) {
			pcm := make([]int16, 160)
			for i := range pcm {
				pcm[i] = level
			}
			for ; d > 0; d -= 20 * ms {
				m.listen(pcm)
			}
		}
		for _, s := range x.says {
			frames(s.speech, 2000)
			frames(s.pause, 0)
			if s.text != "" {
				m.understood(s.text)
			}
		}
		if m.isMachine() != x.machine {
			t.Errorf("%s: taken for a machine: %v", name, m.isMachine())
		}
	}
}
