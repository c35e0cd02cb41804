package widget

import (
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Data is the configuration of a chat widget for its page.
type Data struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	CompanyName  string            `json:"company_name"`
	Language     string            `json:"language"`
	Welcome      string            `json:"welcome"`
	Appearance   Appearance        `json:"appearance"`
	Agent        AgentData         `json:"agent"`
	Texts        map[string]string `json:"texts"`
	ShowClose    bool              `json:"showClose"`
	TalkToPerson bool              `json:"talk_to_person"`
	Scores       *bool             `json:"scores,omitempty"`   // false if the page shows no thumbs next to answers
	Starters     []string          `json:"starters,omitempty"` // questions for the empty chat
	Logo         string            `json:"logo,omitempty"`     // address
	Launcher     *Launcher         `json:"launcher,omitempty"` // for the embed script
}

// AgentData is the agent's data for the page.
type AgentData struct {
	Name string `json:"name"`
}

// data returns the configuration in a language (BCP 47). An empty lang means the widget's own language.
func (h *host) data(ctx context.Context, w *companyWidget, lang string, showClose bool) (*Data, error) {
	lang = canonical(lang, w.Language)
	x := &Data{
		ID: w.ID, Name: w.Name, CompanyName: w.company.Name, Language: lang, Welcome: h.welcome(ctx, w.Widget, lang),
		Appearance: w.Appearance,
		Texts:      w.texts(lang), ShowClose: showClose, TalkToPerson: orTrue(w.TalkToPerson), Scores: w.Scores,
		Starters: h.starters(ctx, w.Widget, lang), Logo: h.logoOf(w.Widget),
	}
	a, err := h.agentOf(ctx, w)
	if a != nil {
		x.Agent.Name = a.Name
	}
	return x, err
}

const maxLanguage = 35 // characters; RFC 5646, section 4.4.1

// canonical returns a language tag in canonical form, or other if it is invalid.
func canonical(lang, other string) string {
	if len(lang) > maxLanguage {
		return other
	}
	tag, err := language.Parse(lang)
	if err != nil || tag == language.Und {
		return other
	}
	return tag.String()
}

// welcome returns the widget's welcome in a language: as configured, or else translated, or else the original.
func (h *host) welcome(ctx context.Context, w *Widget, lang string) string {
	if sameLanguage(lang, w.Language) {
		return w.Welcome
	}
	for have, text := range w.Translations {
		if strings.EqualFold(have, lang) {
			return text
		}
	}
	for have, text := range w.Translations {
		if sameLanguage(have, lang) {
			return text
		}
	}
	if h.translator == nil || w.Welcome == "" {
		return w.Welcome
	}
	return h.translator.Translate(ctx, w.Welcome, w.Language, lang)
}

// starters returns the widget's questions in a language: as configured, or else translated, or else the original.
func (h *host) starters(ctx context.Context, w *Widget, lang string) []string {
	own, translate := []string(nil), h.translator != nil && !sameLanguage(lang, w.Language)
	for _, have := range slices.Sorted(maps.Keys(w.Starters)) {
		switch {
		case strings.EqualFold(have, lang):
			return w.Starters[have]
		case sameLanguage(have, lang):
			own, translate = w.Starters[have], false
		case own == nil && sameLanguage(have, w.Language):
			own = w.Starters[have]
		}
	}
	if !translate {
		return own
	}
	translated := make([]string, len(own))
	for i, text := range own {
		translated[i] = h.translator.Translate(ctx, text, w.Language, lang)
	}
	return translated
}

// sameLanguage reports whether two tags have the same base language, ignoring the region.
func sameLanguage(a, b string) bool {
	base := func(s string) string {
		s, _, _ = strings.Cut(s, "-")
		return strings.ToLower(s)
	}
	return base(a) == base(b)
}

// texts returns the widget's custom texts in a language.
func (w *Widget) texts(lang string) map[string]string {
	all := map[string]string{}
	base, _, _ := strings.Cut(lang, "-")
	maps.Copy(all, w.Texts[base])
	maps.Copy(all, w.Texts[lang])
	return all
}
