package widget

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"

	"carillon/internal/agent"
	"carillon/internal/edge/convai"
)

// VoiceData is the configuration of a voice widget for its page.
type VoiceData struct {
	WidgetID   string            `json:"widget_id"`
	Name       string            `json:"name"`
	Colors     Colors            `json:"colors"`
	Position   string            `json:"position"`
	Animation  string            `json:"animation"`
	Language   string            `json:"language"`
	Languages  []string          `json:"languages"`
	Agent      AgentData         `json:"agent"`
	Welcome    string            `json:"welcome"`
	Texts      map[string]string `json:"texts"`
	TextInput  bool              `json:"text_input"`
	Transcript bool              `json:"transcript"`
	Terms      string            `json:"terms,omitempty"`
	Speech     bool              `json:"speech"`  // an agent or teammate speaks
	Hearing    bool              `json:"hearing"` // visitors' speech is understood here
	// BrowserHearing names the permitted recognizers of a browser, if Hearing is false.
	BrowserHearing string    `json:"browser_hearing,omitempty" enum:"device,service"`
	TalkToPerson   bool      `json:"talk_to_person"`
	Logo           string    `json:"logo,omitempty"`     // address
	Launcher       *Launcher `json:"launcher,omitempty"` // for the embed script
}

// Colors are the colors of a voice widget, as #rrggbb.
type Colors struct {
	Primary    string `json:"primary"`
	OnPrimary  string `json:"on_primary"` // color of text and icons on Primary
	Background string `json:"background"`
	Text       string `json:"text"`
}

const (
	defaultPrimary  = "#2f5bd7"
	defaultPosition = "bottom-right"
	background      = "#ffffff"
	dark            = "#1d1c1a"
	onBright        = "#15130f"
	onDark          = "#ffffff"
)

// voiceData returns the configuration in a language (BCP 47). An empty lang means the widget's own language.
func (d spoken) voiceData(ctx context.Context, w *companyWidget, lang string) (*VoiceData, error) {
	lang = canonical(lang, w.Language)
	a, err := d.host.agentOf(ctx, w)
	if err != nil {
		return nil, err
	}
	primary := cmp.Or(w.Appearance.PrimaryColor, defaultPrimary)
	x := &VoiceData{
		WidgetID: w.ID, Name: w.Name, Colors: Colors{primary, onColor(primary), background, dark},
		Position: cmp.Or(w.Appearance.Position, defaultPosition), Animation: w.Appearance.Animation,
		Language: lang, Languages: w.languages(), Welcome: d.host.welcome(ctx, w.Widget, lang), Texts: w.texts(lang),
		TextInput: orTrue(w.TextInput), Transcript: orTrue(w.Transcript), Terms: w.Terms, TalkToPerson: orTrue(w.TalkToPerson),
		Logo: d.host.logoOf(w.Widget),
	}
	if a != nil {
		x.Agent.Name = a.Name
	}
	if x.Speech, x.Hearing = d.speaks(a); !x.Hearing {
		x.BrowserHearing = w.browserHearing()
	}
	return x, nil
}

// browserHearing returns how a browser may understand speech: on the device, or also by the service of its maker.
func (w *Widget) browserHearing() string {
	if w.Hearing == HearingBrowser {
		return "service"
	}
	return "device"
}

// agentOf returns the agent that answers in a widget, or nil.
func (h *host) agentOf(ctx context.Context, w *companyWidget) (*agent.Agent, error) {
	if w.Agent == "" {
		return nil, nil
	}
	x, owner, err := h.resources.Find(ctx, agent.Kind(), w.Agent)
	if a, ok := x.(*agent.Agent); ok && owner == w.company.ID {
		return a, nil
	}
	return nil, err
}

// languages returns the languages of the widget, its own first.
func (w *Widget) languages() []string {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(w.Translations)), func(l string) bool { return l == w.Language })
	return append([]string{w.Language}, all...)
}

// overrides returns the settings that a client may override.
func (w *Widget) overrides() []string {
	if w.Overrides == nil {
		return []string{convai.OverrideLanguage, convai.OverrideTextOnly}
	}
	return w.Overrides
}

// orTrue returns the value of a switch that is on by default.
func orTrue(b *bool) bool { return b == nil || *b }

// onColor returns the text color with the better contrast on a background (WCAG 2.2).
func onColor(on string) string {
	if contrast(on, onBright) > contrast(on, onDark) {
		return onBright
	}
	return onDark
}

// contrast returns the contrast ratio of two colors, from 1 to 21.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of #rrggbb, from 0 to 1.
func luminance(color string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8) // the format was checked
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
