package sip

import (
	"net/netip"
	"strings"
	"testing"

	"carillon/internal/call/rtp"
)

func TestOpusIsChosenWhereThereIsNoG711(t *testing.T) {
	t.Parallel()
	own := propose(netip.MustParseAddr("192.0.2.1"), 4000, false)
	if text := own.String(); !strings.Contains(text, "m=audio 4000 RTP/AVP 0 8 96 101\r\n") ||
		!strings.Contains(text, "a=rtpmap:96 opus/48000/2\r\na=fmtp:96 useinbandfec=1\r\n") {
		t.Errorf("our offer is %s", text)
	}
	for _, c := range []struct {
		name, media string
		answer      string // media line and codings of our answer; empty if it is refused
		coding      rtp.Coding
	}{
		{
			"Opus alone",
			"RTP/AVP 111 110 101\na=rtpmap:111 opus/48000/2\na=rtpmap:110 telephone-event/48000\na=rtpmap:101 telephone-event/8000",
			"RTP/AVP 111 110\na=rtpmap:111 opus/48000/2\na=fmtp:111 useinbandfec=1\na=rtpmap:110 telephone-event/48000\na=fmtp:110 0-15",
			rtp.Coding{Opus: 111, OwnOpus: 111, Digits: 110, OwnDigits: 110, FastClock: true},
		},
		{
			"Opus with digits of G.711", "RTP/AVP 111 101\na=rtpmap:111 opus/48000/2\na=rtpmap:101 telephone-event/8000",
			"RTP/AVP 111 101\na=rtpmap:111 opus/48000/2\na=fmtp:111 useinbandfec=1\na=rtpmap:101 telephone-event/8000\na=fmtp:101 0-15",
			rtp.Coding{Opus: 111, OwnOpus: 111, Digits: 101, OwnDigits: 101},
		},
		{
			"Opus before G.711",
			"RTP/AVP 111 9 8 110 101\na=rtpmap:111 OPUS/48000/2\na=rtpmap:110 telephone-event/48000\na=rtpmap:101 telephone-event/8000",
			"RTP/AVP 8 101\na=rtpmap:8 PCMA/8000\na=rtpmap:101 telephone-event/8000\na=fmtp:101 0-15",
			rtp.Coding{Law: 1, Digits: 101, OwnDigits: 101},
		},
		{"neither", "RTP/AVP 9 18", "", rtp.Coding{}},
		{"Opus by a name alone", "RTP/AVP 111\na=rtpmap:111 opus/16000", "", rtp.Coding{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := parse("v=0\no=- 1 1 IN IP4 192.0.2.2\ns=-\nc=IN IP4 192.0.2.2\nt=0 0\nm=audio 5000 " + c.media + "\n")
			if (err != nil) != (c.answer == "") {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			answer := d.answer(own)
			if got := strings.ReplaceAll(answer.String(), "\r\n", "\n"); !strings.Contains(got, "m=audio 4000 "+c.answer+"\na=ptime") {
				t.Errorf("the answer is\n%s", got)
			}
			if got := coding(answer, d); got != c.coding {
				t.Errorf("the coding is %+v, not %+v", got, c.coding)
			}
		})
	}
}
