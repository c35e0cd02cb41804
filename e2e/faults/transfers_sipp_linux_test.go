package faults

import (
	"fmt"
	"strings"
	"testing"

	"carillon/internal/base/need"
	"carillon/internal/call/sip/siptest"
)

// Scenarios of sipp. Its calls have a session timer, which ends them if the program no longer refreshes them: sipp
// itself has no timer for silence. Requests that a dead program ignores are sent once, as sipp fails otherwise.
const (
	sippSound = `Content-Type: application/sdp
Content-Length: [len]

v=0
o=- 1 1 IN IP4 [local_ip]
s=-
c=IN IP4 [media_ip]
t=0 0
m=audio [media_port] RTP/AVP 0
a=rtpmap:0 PCMU/8000
]]></send>`
	sippEcho = `[last_Via:]
[last_From:]
[last_To:]
[last_Call-ID:]
[last_CSeq:]
Contact: <sip:peer@[local_ip]:[local_port]>
`
	sippInvited = `<recv request="INVITE" rrs="true"><action>
<ereg regexp=".*" search_in="hdr" header="From:" assign_to="them"/>
<ereg regexp="[^;]*" search_in="hdr" header="To:" assign_to="us"/>
</action></recv>
<send><![CDATA[
SIP/2.0 180 Ringing
` + sippTagged + `Content-Length: 0

]]></send>
`
	sippTagged = `[last_Via:]
[last_From:]
[last_To:];tag=[pid]x[call_number]
[last_Call-ID:]
[last_CSeq:]
Contact: <sip:peer@[local_ip]:[local_port]>
`
	sippTimer    = "Require: timer\nSession-Expires: 90;refresher=uac\n"
	sippAnswered = `<send retrans="500"><![CDATA[
SIP/2.0 200 OK
` + sippTagged + sippTimer + sippSound + "\n"
	sippToUs = `Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From:[$us];tag=[pid]x[call_number]
To:[$them]
`
	// sippForgotten is the response of a new program, after which the call is over (RFC 3261, 12.2.1.2).
	sippForgotten = `<recv response="481" optional="true" timeout="5000" ontimeout="1" next="3"/>`

	sippInfo = `[last_Call-ID:]
CSeq: [cseq] INFO
Max-Forwards: 70
Contact: <sip:peer@[local_ip]:[local_port]>
Content-Type: application/dtmf-relay
Content-Length: [len]

Signal=1
Duration=160
]]></send>
` + sippForgotten + `
<recv response="200" timeout="5000" ontimeout="1"/>
`
	sippBye = `[last_Call-ID:]
CSeq: [cseq] BYE
Max-Forwards: 70
Content-Length: 0

]]></send>
`
	// sippRefreshed responds to refreshes until the session expires.
	sippRefreshed = `<label id="1"/>
<recv response="481" optional="true" timeout="60000" ontimeout="2" next="3"/>
<recv request="INVITE" timeout="60000" ontimeout="2"/>
<send retrans="500"><![CDATA[
SIP/2.0 200 OK
` + sippEcho + sippTimer + sippSound + `
<recv request="ACK"/>
<nop next="1"/>
<label id="2"/>
`
	sippOver = `<recv response="481" optional="true" timeout="5000" ontimeout="3" next="3"/>
<recv response="200" timeout="5000" ontimeout="3"/>
<label id="3"/>
<pause milliseconds="1"/>
`
	sippDeskBye = "<send><![CDATA[\nBYE [next_url] SIP/2.0\n" + sippToUs + sippBye + sippOver
)

func sippScenario(steps ...string) string {
	return `<?xml version="1.0" encoding="ISO-8859-1" ?><!DOCTYPE scenario SYSTEM "sipp.dtd"><scenario name="carillon">` +
		strings.Join(steps, "") + `</scenario>`
}

// sippDesks are desks in each phase. The one that rings answers 20 s later.
func sippDesks() []string {
	return []string{
		sippScenario(sippInvited, `<pause milliseconds="20000"/>`, strings.Replace(sippAnswered, ` retrans="500"`, "", 1),
			`<recv request="ACK" timeout="10000" ontimeout="2"/>`, sippRefreshed, sippDeskBye),
		sippScenario(sippInvited, sippAnswered, `<recv request="ACK"/>`, sippRefreshed, sippDeskBye),
		sippScenario(sippInvited, sippAnswered, `<recv request="ACK"/><pause milliseconds="1000"/>`,
			"<send><![CDATA[\nINFO [next_url] SIP/2.0\n", sippToUs, sippInfo, sippRefreshed, sippDeskBye),
	}
}

const presses = 4

// sippCaller calls a line and presses the key that asks for a transfer, a few times.
func sippCaller(line string) string {
	from := `Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: <sip:34600110077@[local_ip]:[local_port]>;tag=[pid]y[call_number]
`
	within := from + "[last_To:]\n"
	return sippScenario("<send retrans=\"500\"><![CDATA[\nINVITE sip:"+line+"@[remote_ip]:[remote_port] SIP/2.0\n", from,
		"To: <sip:"+line+"@[remote_ip]:[remote_port]>\nCall-ID: [call_id]\nCSeq: 1 INVITE\nMax-Forwards: 70\n",
		"Contact: <sip:peer@[local_ip]:[local_port]>\nSupported: timer\nSession-Expires: 90;refresher=uas\n", sippSound,
		`<recv response="100" optional="true"/><recv response="180" optional="true"/><recv response="200" rrs="true"/>`,
		"<send><![CDATA[\nACK [next_url] SIP/2.0\n", within,
		"Call-ID: [call_id]\nCSeq: 1 ACK\nMax-Forwards: 70\nContent-Length: 0\n\n]]></send>\n",
		strings.Repeat(`<pause milliseconds="2000"/>`+"<send><![CDATA[\nINFO [next_url] SIP/2.0\n"+within+sippInfo, presses),
		sippRefreshed, "<send><![CDATA[\nBYE [next_url] SIP/2.0\n", within, sippBye, sippOver)
}

// TestTransfersOfOtherTelephonesEndWithTheirNode kills a node with a transfer in each phase, whose telephones are those
// of sipp. Each second leg ends once in the records, and the telephones end their calls.
func TestTransfersOfOtherTelephonesEndWithTheirNode(t *testing.T) {
	need.Sound(t)
	t.Parallel() // it mostly waits until sessions expire
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var desks, all []*siptest.Sipp
			var trunks []string
			for _, scenario := range sippDesks() {
				s := siptest.NewSipp(t, scenario, "-rtp_echo")
				siptest.Listens(t, "udp", s.Port)
				desks, trunks = append(desks, s), append(trunks, s.Address())
			}
			nodes, address, db := transferSite(t, trunks, engine)
			reached := func(phase int) bool {
				var n int
				where := []string{"answered_at = 0", "answered_at > 0 AND taken_at = 0", "taken_at > 0"}[phase]
				_ = db.QueryRow("SELECT COUNT(*) FROM call_transfer AS t JOIN sender AS s ON s.uid = t.sender "+
					"WHERE t.under_way AND s.number = $1 AND "+where, phases[phase]).Scan(&n)
				return n == 1
			}
			for _, phase := range []int{2, 0, 1} { // the whisper is the shortest
				all = append(all, desks[phase], siptest.NewSipp(t, sippCaller(phases[phase]), "-rtp_echo", address))
				if !await(t.Context(), hung, func() bool { return reached(phase) }) {
					t.Fatalf("the transfer of line %d does not get there: %v", phase, transferRows(db))
				}
			}
			for phase := range phases {
				if !reached(phase) {
					t.Fatalf("a transfer is over: %v", transferRows(db))
				}
			}
			nodes[0].kill()
			if len(nodes) == 1 {
				nodes[0].start()
			}
			want := map[string]string{}
			for _, line := range phases {
				want[line] = "false failed interrupted "
			}
			once := func() bool {
				rows := transferRows(db)
				for line, row := range rows {
					if !strings.HasPrefix(row, want[line]) || strings.Count(row, "\n") != 1 {
						return false
					}
				}
				return len(rows) == len(phases)
			}
			if !await(t.Context(), hung, once) {
				t.Fatalf("the legs do not end: %v", transferRows(db))
			}
			for _, s := range all {
				s.Done()
			}
			if !once() {
				t.Errorf("the legs change after their end: %v", transferRows(db))
			}
			for phase, s := range desks {
				if n := strings.Count(s.Exchanged(), "CSeq: 1 INVITE"); n == 0 {
					t.Error(fmt.Sprint("the desk of phase ", phase, " was not called"))
				}
			}
		})
	}
}
