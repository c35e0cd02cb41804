package carillon

import "time"

// Template is one language version of a sender's template.
type Template struct {
	ID              string // our own, decimal
	ProviderID      string // of the channel, if it has one
	CompanyID       string
	SenderUID       int64
	Name            string
	Language        string
	Category        string // MARKETING, UTILITY, AUTHENTICATION
	Status          TemplateStatus
	ParameterFormat string // POSITIONAL or NAMED
	Components      []Component
	Reason          string // reason of a rejection or pause
	CreatedAt       time.Time
	UpdatedAt       time.Time

	Shape *Shape // compiled form of Components; set by the store on returned templates if they are valid
}

// Shape is the compiled form of a template: its variables, and how its text grows when they are filled in.
type Shape struct {
	HeaderFormat   string        // TEXT, IMAGE, VIDEO or DOCUMENT; empty without a header
	HeaderVariable string        // the marker in a text header; empty if there is none
	Markers        []string      // of the body, distinct: POSITIONAL by number, NAMED by first appearance
	MarkerUses     []int         // number of occurrences of each marker in the body
	StaticLength   int           // code points of the body outside its markers
	Buttons        []ButtonShape // all buttons in order
}

// ButtonShape is one button of a compiled template.
type ButtonShape struct {
	Type     string // URL, QUICK_REPLY, PHONE_NUMBER
	Variable bool   // a URL button whose URL ends in a variable
	Prefix   string // static part of such a URL
}

// PublicID returns the ID for responses: the channel's own if it has one.
func (t *Template) PublicID() string {
	if t.ProviderID != "" {
		return t.ProviderID
	}
	return t.ID
}

// Component is one part of a template, in the form of lists. The key order is part of the API: type, text or format,
// example. The buttons are one component of type BUTTONS.
type Component struct {
	Type    string            `json:"type"`             // HEADER, BODY, FOOTER, BUTTONS
	Format  string            `json:"format,omitempty"` // HEADER: TEXT, IMAGE, VIDEO, DOCUMENT
	Text    string            `json:"text,omitempty"`
	Example *ComponentExample `json:"example,omitempty"`
	Buttons []Button          `json:"buttons,omitempty"`
}

// ComponentExample holds the sample values for the reviewer.
type ComponentExample struct {
	HeaderText            []string       `json:"header_text,omitempty"`
	HeaderHandle          []string       `json:"header_handle,omitempty"`
	HeaderTextNamedParams []NamedExample `json:"header_text_named_params,omitempty"`
	BodyText              [][]string     `json:"body_text,omitempty"`
	BodyTextNamedParams   []NamedExample `json:"body_text_named_params,omitempty"`
}

// NamedExample is the sample of one named variable.
type NamedExample struct {
	ParamName string `json:"param_name"`
	Example   string `json:"example"`
}

// Button is one button of a template.
type Button struct {
	Type        string   `json:"type"` // URL, QUICK_REPLY, PHONE_NUMBER
	Text        string   `json:"text"`
	URL         string   `json:"url,omitempty"`
	PhoneNumber string   `json:"phone_number,omitempty"`
	Example     []string `json:"example,omitempty"`
}
