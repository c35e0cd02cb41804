package carillon

import "time"

// Template is one language of one named template of a sender.
type Template struct {
	ID              string // ours, decimal
	ProviderID      string // the channel's own, when it has one
	CompanyID       string
	SenderUID       int64
	Name            string
	Language        string
	Category        string // MARKETING, UTILITY, AUTHENTICATION
	Status          TemplateStatus
	ParameterFormat string // POSITIONAL or NAMED
	Components      []Component
	Reason          string // why it was rejected or paused
	CreatedAt       time.Time
	UpdatedAt       time.Time

	Shape *Shape // compiled from Components by Compile; set on what the store returns
}

// PublicID is the id that answers carry: the channel's own where it has one.
func (t *Template) PublicID() string {
	if t.ProviderID != "" {
		return t.ProviderID
	}
	return t.ID
}

// Component is one part of a template, in the form that lists show. Key order: type, text or format, example; buttons
// as a component of type BUTTONS (decisions.md, section 4).
type Component struct {
	Type    string            `json:"type"`             // HEADER, BODY, FOOTER, BUTTONS
	Format  string            `json:"format,omitempty"` // HEADER: TEXT, IMAGE, VIDEO, DOCUMENT
	Text    string            `json:"text,omitempty"`
	Example *ComponentExample `json:"example,omitempty"`
	Buttons []Button          `json:"buttons,omitempty"`
}

// ComponentExample holds the sample values a reviewer sees.
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
