package docs

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write the drawings of states")

// point is a place in a drawing, in pixels.
type point struct{ x, y float64 }

// box is a state; its place is its middle.
type box struct {
	name string
	point
	kind string // "good" and "bad" ends; "" for what goes on
}

// arrow is a transition. It leaves and arrives at a side of the boxes: l, r, t or b, where a number moves it along the side.
type arrow struct {
	from, leaves string
	to, arrives  string
	label        string
	at           point // of the label; zero means the arrow's middle
}

// drawing is a picture of states. The transitions stand in it as data-from and data-to: tests of the packages that make them compare
// these with what the code does.
type drawing struct {
	file, title   string
	width, height float64
	boxes         []box
	arrows        []arrow
}

var drawings = []drawing{
	{
		file: "states-message.svg", title: "States of a message", width: 860, height: 300,
		boxes: []box{
			{"scheduled", point{70, 100}, ""},
			{"queued", point{250, 100}, ""},
			{"sending", point{430, 100}, ""},
			{"sent", point{610, 100}, ""},
			{"delivered", point{790, 100}, "good"},
			{"read", point{790, 240}, "good"},
			{"canceled", point{70, 240}, "bad"},
			{"skipped", point{250, 240}, "bad"},
			{"failed", point{610, 240}, "bad"},
		},
		arrows: []arrow{
			{"scheduled", "r", "queued", "l", "due", point{160, 92}},
			{"queued", "r", "sending", "l", "starts", point{340, 92}},
			{"sending", "r", "sent", "l", "accepted", point{520, 92}},
			{"sent", "r", "delivered", "l", "receipt", point{700, 92}},
			{"delivered", "b", "read", "t", "receipt", point{790, 175}},
			{"sending", "t", "queued", "t", "a temporary fault: tried again", point{340, 28}},
			{"scheduled", "b", "canceled", "t", "cancel", point{70, 175}},
			{"queued", "b-30", "canceled", "r", "cancel", point{195, 205}},
			{"sending", "b-25", "skipped", "r", "suppressed", point{365, 205}},
			{"sending", "b", "failed", "l", "refused, expired, given up", point{470, 222}},
			{"sent", "b", "failed", "t", "receipt", point{610, 175}},
			{"sent", "b30", "read", "l", "receipt", point{690, 208}},
		},
	},
	{
		file: "states-call.svg", title: "States of a call", width: 860, height: 300,
		boxes: []box{
			{"scheduled", point{70, 100}, ""},
			{"queued", point{250, 100}, ""},
			{"dialing", point{430, 100}, ""},
			{"ringing", point{610, 100}, ""},
			{"in_progress", point{790, 100}, ""},
			{"completed", point{790, 240}, "good"},
			{"voicemail", point{705, 170}, "bad"},
			{"canceled", point{70, 240}, "bad"},
			{"skipped", point{190, 240}, "bad"},
			{"failed", point{310, 240}, "bad"},
			{"busy", point{430, 240}, "bad"},
			{"rejected", point{550, 240}, "bad"},
			{"no_answer", point{670, 240}, "bad"},
		},
		arrows: []arrow{
			{"scheduled", "r", "queued", "l", "due", point{160, 92}},
			{"queued", "r", "dialing", "l", "a free slot", point{340, 92}},
			{"dialing", "r", "ringing", "l", "", point{}},
			{"ringing", "r", "in_progress", "l", "answered", point{700, 92}},
			{"in_progress", "b", "completed", "t", "hung up", point{805, 206}},
			{"in_progress", "b-25", "voicemail", "r", "", point{}},
			{"dialing", "t", "queued", "t", "the line is faulty, or it is dialed again", point{340, 28}},
			{"scheduled", "b", "canceled", "t", "cancel", point{70, 175}},
			{"queued", "b-30", "canceled", "t30", "cancel", point{150, 185}},
			{"dialing", "b-40", "skipped", "t", "suppressed", point{265, 190}},
			{"dialing", "b-20", "failed", "t", "", point{}},
			{"dialing", "b", "busy", "t", "", point{}},
			{"ringing", "b-25", "rejected", "t", "", point{}},
			{"ringing", "b", "no_answer", "t-35", "", point{}},
		},
	},
	{
		file: "states-template.svg", title: "States of a template", width: 860, height: 310,
		boxes: []box{
			{"draft", point{70, 110}, ""},
			{"pending", point{270, 110}, ""},
			{"approved", point{490, 110}, "good"},
			{"paused", point{750, 40}, "bad"},
			{"disabled", point{680, 150}, "bad"},
			{"rejected", point{490, 240}, "bad"},
		},
		arrows: []arrow{
			{"draft", "r", "pending", "l", "submit", point{170, 102}},
			{"pending", "t", "draft", "t", "edit", point{170, 42}},
			{"pending", "r", "approved", "l", "review", point{380, 102}},
			{"pending", "b", "rejected", "l", "review", point{310, 200}},
			{"approved", "t", "paused", "l-6", "quality", point{580, 34}},
			{"paused", "l8", "approved", "r-8", "", point{}},
			{"approved", "r6", "disabled", "l-4", "", point{}},
			{"disabled", "l8", "approved", "b38", "", point{}},
			{"approved", "b-12", "rejected", "t-12", "", point{}},
			{"rejected", "t12", "approved", "b12", "", point{}},
			{"paused", "b-20", "disabled", "t", "", point{}},
			{"paused", "r", "rejected", "r", "", point{}},
			{"rejected", "b", "draft", "b", "edit", point{190, 264}},
		},
	},
	{
		file: "states-conversation.svg", title: "States of a conversation", width: 860, height: 320,
		boxes: []box{
			{"bot", point{70, 130}, ""},
			{"queued", point{280, 130}, ""},
			{"active", point{500, 130}, ""},
			{"wrap_up", point{660, 130}, ""},
			{"resolved", point{740, 40}, "good"},
			{"missed", point{280, 270}, "bad"},
			{"abandoned", point{500, 270}, "bad"},
		},
		arrows: []arrow{
			{"bot", "r", "queued", "l", "wants a person", point{175, 122}},
			{"queued", "r", "active", "l", "is taken", point{390, 122}},
			{"active", "r", "wrap_up", "l", "leaves", point{580, 122}},
			{"wrap_up", "r", "resolved", "b", "10 minutes", point{752, 104}},
			{"wrap_up", "b", "active", "b30", "writes again", point{600, 192}},
			{"active", "t", "resolved", "l8", "is resolved", point{600, 62}},
			{"bot", "t", "resolved", "l-8", "leaves", point{250, 44}},
			{"queued", "b", "missed", "t", "5 minutes", point{280, 205}},
			{"queued", "b30", "abandoned", "l", "is gone", point{375, 232}},
			{"bot", "b", "missed", "l", "nobody is there", point{115, 225}},
			{"abandoned", "t", "active", "b", "is taken", point{500, 212}},
			{"abandoned", "r", "resolved", "r", "is resolved", point{690, 236}},
		},
	},
}

const boxWidth, boxHeight = 104.0, 36.0

// side is where an arrow leaves or arrives, and the direction away from the box.
func (b box) side(s string) (at, away point) {
	var along float64
	if len(s) > 1 {
		_, _ = fmt.Sscanf(s[1:], "%g", &along)
	}
	switch s[0] {
	case 'l':
		return point{b.x - boxWidth/2, b.y + along}, point{-1, 0}
	case 'r':
		return point{b.x + boxWidth/2, b.y + along}, point{1, 0}
	case 't':
		return point{b.x + along, b.y - boxHeight/2}, point{0, -1}
	default:
		return point{b.x + along, b.y + boxHeight/2}, point{0, 1}
	}
}

func (d *drawing) box(t *testing.T, name string) box {
	t.Helper()
	i := slices.IndexFunc(d.boxes, func(b box) bool { return b.name == name })
	if i < 0 {
		t.Fatalf("%s has no state %s", d.file, name)
	}
	return d.boxes[i]
}

// The colours stand in attributes for light pages, and in a style that readers with a dark scheme get.
const head = `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]g" height="%[2]g" viewBox="0 0 %[1]g %[2]g" role="img" aria-label="%[3]s">
<!-- Made by: go test ./docs -update -->
<style>@media (prefers-color-scheme: dark) { .page { fill: #1f1e1c } ` +
	`.box { fill: #1d2738; stroke: #5b7fd6 } .good { fill: #12291d; stroke: #3fa46a } .bad { fill: #2c1a1c; stroke: #c9676b } ` +
	`text { fill: #ecebe8 } .label { fill: #b8b5ae; stroke: #1f1e1c } .way { stroke: #96928a } .tip { fill: #96928a } }</style>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">` +
	`<path class="tip" d="M0 0L10 5L0 10z" fill="#64748b"/></marker></defs>
<rect class="page" width="%[1]g" height="%[2]g" fill="#ffffff"/>
`

func (d *drawing) render(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, head, d.width, d.height, html.EscapeString(d.title))
	b.WriteString(`<g font-family="system-ui,-apple-system,Segoe UI,Roboto,sans-serif" font-size="14" text-anchor="middle">` + "\n")
	for _, a := range d.arrows {
		from, away := d.box(t, a.from).side(a.leaves)
		to, back := d.box(t, a.to).side(a.arrives)
		pull := min(110, max(26, 0.45*math.Hypot(to.x-from.x, to.y-from.y)))
		fmt.Fprintf(&b, `<path class="way" data-from="%s" data-to="%s" d="M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f" fill="none" `+
			`stroke="#64748b" stroke-width="1.5" marker-end="url(#tip)"/>`+"\n",
			a.from, a.to, from.x, from.y, from.x+away.x*pull, from.y+away.y*pull, to.x+back.x*pull, to.y+back.y*pull, to.x, to.y)
	}
	for _, x := range d.boxes {
		fill := map[string][2]string{"": {"#eef3ff", "#2f5bd7"}, "good": {"#e8f6ee", "#1d7a46"}, "bad": {"#fdeeee", "#b3393f"}}[x.kind]
		class := "box"
		if x.kind != "" {
			class = x.kind
		}
		fmt.Fprintf(&b, `<rect class="%s" data-state="%s" x="%g" y="%g" width="%g" height="%g" rx="8" fill="%s" stroke="%s" `+
			`stroke-width="1.5"/><text x="%g" y="%g" fill="#0f172a">%s</text>`+"\n",
			class, x.name, x.x-boxWidth/2, x.y-boxHeight/2, boxWidth, boxHeight, fill[0], fill[1], x.x, x.y+5, x.name)
	}
	for _, a := range d.arrows {
		if a.label != "" {
			fmt.Fprintf(&b, `<text class="label" x="%g" y="%g" font-size="12.5" fill="#475569" stroke="#ffffff" stroke-width="4" `+
				`stroke-linejoin="round" paint-order="stroke">%s</text>`+"\n", a.at.x, a.at.y, html.EscapeString(a.label))
		}
	}
	b.WriteString("</g></svg>\n")
	return b.Bytes()
}

// TestDrawingsAreFresh compares the committed drawings with the table above.
func TestDrawingsAreFresh(t *testing.T) {
	for _, d := range drawings {
		name := filepath.Join("images", d.file)
		want := d.render(t)
		if *update {
			if err := os.WriteFile(name, want, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, want) {
			t.Errorf("docs/%s is stale (%v): go test ./docs -update", name, err)
		}
	}
}

// TestDrawingsShowEveryStateOfMessagesAndCalls compares the boxes with the states of the program.
func TestDrawingsShowEveryStateOfMessagesAndCalls(t *testing.T) {
	code, err := os.ReadFile(filepath.Join("..", "states.go"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, files := range map[string][]string{
		"State": {"states-message.svg", "states-call.svg"}, "TemplateStatus": {"states-template.svg"},
	} {
		states := map[string]bool{} // whether it is drawn
		for _, m := range regexp.MustCompile(`(?m)^\t\w+ +`+kind+` += "(\w+)"`).FindAllSubmatch(code, -1) {
			states[string(m[1])] = false
		}
		for _, d := range drawings {
			if !slices.Contains(files, d.file) {
				continue
			}
			for _, b := range d.boxes {
				if _, known := states[b.name]; !known {
					t.Errorf("docs/images/%s shows %s, which is no %s", d.file, b.name, kind)
				}
				states[b.name] = true
			}
		}
		for name, drawn := range states {
			if !drawn {
				t.Errorf("no drawing shows %s", name)
			}
		}
		if len(states) < 6 {
			t.Errorf("found only %d of %s", len(states), kind)
		}
	}
}
