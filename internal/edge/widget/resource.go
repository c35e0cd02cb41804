package widget

import (
	"context"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/logo"
	"carillon/internal/base/resource"
	"carillon/internal/base/schedule"
	"carillon/internal/edge/convai"
	"carillon/internal/store/resources"
)

// Widget is a chat or voice widget.
type Widget struct {
	ID             string            `json:"id,omitempty"`
	Kind           string            `json:"kind" enum:"chat,voice"` // chat or voice
	Name           string            `json:"name"`
	Agent          string            `json:"agent,omitempty"` // id of the agent, once stored
	Welcome        string            `json:"welcome"`
	Translations   map[string]string `json:"translations"` // of the welcome, by language
	Language       string            `json:"language"`     // BCP 47
	Appearance     Appearance        `json:"appearance"`
	AllowedOrigins []string          `json:"allowed_origins"` // empty allows all
	// TalkToPerson offers a teammate on the page; nil means true.
	TalkToPerson *bool `json:"talk_to_person,omitempty"`
	// Scores offers thumbs on the agent's answers; nil means true. For chat widgets.
	Scores *bool `json:"scores,omitempty"`
	// Texts replace the page's texts, by language and key.
	Texts map[string]map[string]string `json:"texts,omitempty"`
	// Starters are questions that visitors can send from the empty chat, by language. For chat widgets.
	Starters map[string][]string `json:"starters,omitempty"`
	// Hours are the hours in which teammates answer; nil means always. Outside them, a visitor who asks for one leaves
	// contact details instead.
	Hours *carillon.CallingHours `json:"hours,omitempty"`
	// IdentitySecret is the HS256 key, as UTF-8 bytes, that signs visitors' identities. If empty, visitors are not
	// identified.
	IdentitySecret string `json:"identity_secret,omitempty" secret:"true"`

	// For voice widgets.

	Hearing string `json:"hearing,omitempty" enum:"auto,browser"` // see HearingAuto; empty means auto

	TextInput  *bool    `json:"text_input,omitempty"` // visitors may also type; nil means true
	Transcript *bool    `json:"transcript,omitempty"` // the page shows the transcript; nil means true
	Terms      string   `json:"terms,omitempty"`      // terms that visitors accept before they speak
	Overrides  []string `json:"overrides,omitzero"`   // settings that the page may override; nil means language and text_only
}

// Appearance is the look of a widget on the page.
type Appearance struct {
	PrimaryColor string `json:"primary_color,omitempty"` // #rrggbb
	Position     string `json:"position,omitempty"`      // a corner
	Animation    string `json:"animation,omitempty"`
	Title        string `json:"title,omitempty"`
	Logo         string `json:"logo,omitempty"` // digest of a logo of the company
}

// Values of Widget.Hearing: the permitted recognizers of visitors' speech if the agent has no transcriber.
const (
	HearingAuto    = "auto"    // only browsers that recognize it on the device
	HearingBrowser = "browser" // also by the service of the browser's maker, if the visitor agrees
)

const (
	maxOrigins        = 100
	minIdentitySecret = 24 // bytes
	maxIdentitySecret = 256
	maxTerms          = 2000 // characters
)

var (
	colorForm = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)
	word      = regexp.MustCompile(`^[a-z][a-z-]{0,31}$`)
)

// Kind describes widgets.
func Kind() resource.Kind {
	return resource.Kind{Name: "widget", Plural: "widgets", Phrase: "a widget", New: func() resource.Resource { return &Widget{} }}
}

// Origins returns a function that reads the origins of the pages that may use a widget of a company; none if any page may, or
// if there is no such widget.
func Origins(s *resources.Store) func(ctx context.Context, companyID, id string) ([]string, error) {
	return func(ctx context.Context, companyID, id string) ([]string, error) {
		x, owner, err := s.Find(ctx, Kind(), id)
		if w, ok := x.(*Widget); err == nil && ok && owner == companyID {
			return w.AllowedOrigins, nil
		}
		return nil, err
	}
}

// Key implements resource.Resource.
func (w *Widget) Key() (id, name *string) { return &w.ID, &w.Name }

// Keep implements resource.Keeper: logos are uploaded in the panel.
func (w *Widget) Keep(stored resource.Resource) {
	if x, ok := stored.(*Widget); ok && w.Appearance.Logo == "" {
		w.Appearance.Logo = x.Appearance.Logo
	}
}

// LogoDigest returns the digest of the widget's logo, or "".
func (w *Widget) LogoDigest() string { return w.Appearance.Logo }

// Secrets implements resource.Secretive.
func (w *Widget) Secrets() []resource.Secret { return []resource.Secret{{Value: &w.IdentitySecret}} }

// References returns the agent that answers in the widget.
func (w *Widget) References() []resource.Reference {
	return []resource.Reference{{Field: "agent", Kind: "agent", To: &w.Agent}}
}

// Validate implements resource.Resource.
func (w *Widget) Validate() error {
	var c resource.Check
	c.UUID("id", &w.ID)
	c.Choice("kind", &w.Kind, "chat", "voice")
	c.Name("name", w.Name)
	c.Text("welcome", w.Welcome)
	c.Language("language", &w.Language)
	if w.Translations == nil {
		w.Translations = map[string]string{}
	}
	for _, language := range slices.Sorted(maps.Keys(w.Translations)) {
		at := "translations." + language
		c.That(resource.ValidLanguage(language), at, "Must stand under a language such as es or pt-BR")
		c.Required(at, w.Translations[language])
	}
	w.Appearance.validate(&c)
	w.validateTexts(&c)
	w.validateStarters(&c)
	w.validateHours(&c)
	w.AllowedOrigins = resource.List(w.AllowedOrigins)
	c.That(len(w.AllowedOrigins) <= maxOrigins, "allowed_origins", "Must hold at most 100 origins")
	for i, o := range w.AllowedOrigins {
		c.That(validOrigin(o), resource.Index("allowed_origins", i), "Must hold origins such as https://www.example.com")
	}
	c.That(utf8.RuneCountInString(w.Terms) <= maxTerms, "terms", "Must have at most 2,000 characters")
	if w.Hearing != "" {
		c.Choice("hearing", &w.Hearing, HearingAuto, HearingBrowser)
	}
	if w.Overrides != nil { // an empty list allows nothing
		c.Words(
			"overrides", &w.Overrides, convai.OverrideLanguage, convai.OverrideFirstMessage, convai.OverrideVoice,
			convai.OverrideTextOnly,
		)
	}
	n := len(w.IdentitySecret)
	c.That(n == 0 || minIdentitySecret <= n && n <= maxIdentitySecret, "identity_secret", "Must have 24 to 256 bytes")
	return c.Err()
}

const (
	maxTexts      = 100 // per language
	maxTextLength = 500
	maxLabel      = 30 // characters next to the button's icon
	maxStarters   = 4  // per language
	maxStarter    = 80 // characters
	maxStartersIn = 50 // languages
	launcherText  = "launcher"
)

var textKey = regexp.MustCompile(`^[a-z][A-Za-z_]{0,63}$`)

func (w *Widget) validateTexts(c *resource.Check) {
	for _, language := range slices.Sorted(maps.Keys(w.Texts)) {
		at := "texts." + language
		c.That(resource.ValidLanguage(language), at, "Must stand under a language such as es or pt-BR")
		c.That(len(w.Texts[language]) <= maxTexts, at, "Must have at most 100 entries")
		for _, key := range slices.Sorted(maps.Keys(w.Texts[language])) {
			c.That(textKey.MatchString(key), at+"."+key, "Must be the name of a text of the page, such as placeholder")
			text := w.Texts[language][key]
			c.That(utf8.RuneCountInString(text) <= maxTextLength, at+"."+key, "Must have at most 500 characters")
			c.That(key != launcherText || utf8.RuneCountInString(text) <= maxLabel && oneLine(text), at+"."+key,
				"Must be at most 30 characters in one line")
		}
	}
}

func (w *Widget) validateStarters(c *resource.Check) {
	c.That(len(w.Starters) <= maxStartersIn, "starters", "Must have at most 50 entries")
	for _, language := range slices.Sorted(maps.Keys(w.Starters)) {
		at := "starters." + language
		c.That(resource.ValidLanguage(language), at, "Must stand under a language such as es or pt-BR")
		c.That(len(w.Starters[language]) <= maxStarters, at, "Must have at most 4 entries")
		for i, text := range w.Starters[language] {
			one := resource.Index(at, i)
			text = strings.TrimSpace(text)
			w.Starters[language][i] = text
			c.Required(one, text)
			c.That(utf8.RuneCountInString(text) <= maxStarter && oneLine(text), one, "Must be at most 80 characters in one line")
			c.That(slices.Index(w.Starters[language], text) == i, one, "Names the same twice")
		}
	}
}

// oneLine reports whether a text has no line breaks and other control characters.
func oneLine(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) }

var (
	clock = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)
	days  = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} //nolint:gochecknoglobals // read only
)

func (w *Widget) validateHours(c *resource.Check) {
	h := w.Hours
	if h == nil {
		return
	}
	_, err := schedule.Zone(h.Timezone)
	c.That(err == nil, "hours.timezone", "Must be the name of a time zone such as Europe/Madrid")
	c.That(clock.MatchString(h.From), "hours.from", "Must be a time of day such as 09:00")
	c.That(clock.MatchString(h.To) || h.To == "24:00", "hours.to", "Must be a time of day such as 18:00")
	c.That(
		len(h.Days) > 0 && !slices.ContainsFunc(h.Days, func(d string) bool { return !slices.Contains(days, d) }), "hours.days",
		"Must hold days such as mon",
	)
}

func (a *Appearance) validate(c *resource.Check) {
	c.That(a.PrimaryColor == "" || colorForm.MatchString(a.PrimaryColor), "appearance.primary_color", "Must be a colour such as #0b6e4f")
	if a.Position != "" {
		c.Choice("appearance.position", &a.Position, "bottom-right", "bottom-left", "top-right", "top-left")
	}
	c.That(a.Animation == "" || word.MatchString(a.Animation), "appearance.animation", "Must be a word such as pulse or wave")
	c.Text("appearance.title", a.Title)
	c.That(a.Logo == "" || logo.ValidDigest(a.Logo), "appearance.logo", "Must be the id of an uploaded logo")
}

// originForm is strict because origins become part of a header in which spaces, quotes and semicolons are significant.
var originForm = regexp.MustCompile(`^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

func validOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && originForm.MatchString(s) && u.Hostname() != ""
}
