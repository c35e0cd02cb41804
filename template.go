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
	SendTTL         int    // seconds until the channel drops an undelivered message. -1 is 30 days, 0 the channel's default
	Reason          string // reason of a rejection or pause
	Report          TemplateReport
	CreatedAt       time.Time
	UpdatedAt       time.Time

	Shape *Shape // compiled form of Components; set by the store on returned templates if they are valid
}

// Shape is the compiled form of a template: its variables, and how its text grows when they are filled in.
type Shape struct {
	HeaderFormat   string        // TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION or PRODUCT; empty without a header
	HeaderVariable string        // the marker in a text header; empty if there is none
	Markers        []string      // of the body, distinct: POSITIONAL by number, NAMED by first appearance
	MarkerUses     []int         // number of occurrences of each marker in the body
	StaticLength   int           // code points of the body outside its markers
	Buttons        []ButtonShape // all buttons in order
	Code           bool          // a one-time code: the code of the button fills the body as well
	OfferEnds      bool          // a limited-time offer that shows when it ends
	Cards          []Shape       // of a carousel; cards of products are alike, and a message has any number of them
	Unknown        []string      // types of the parts that this program cannot fill: the template is shown, but not sent
}

// ButtonShape is one button of a compiled template.
type ButtonShape struct {
	Type     string // upper-case type of the button; OTP for the button of a one-time code in any form
	Variable bool   // a URL button whose URL ends in a variable
	Prefix   string // static part of such a URL
	Counted  bool   // the URL is a counted link: a value is the address that the link leads to
}

// PublicID returns the ID for responses: the channel's own if it has one.
func (t *Template) PublicID() string {
	if t.ProviderID != "" {
		return t.ProviderID
	}
	return t.ID
}

// Component is one part of a template, in the channel's form. The key order is part of the API: type, text or format,
// example. The buttons are one component of type BUTTONS. The channel writes the newer types in either case.
type Component struct {
	// HEADER, BODY, FOOTER, BUTTONS, LIMITED_TIME_OFFER, CAROUSEL or CALL_PERMISSION_REQUEST
	Type    string            `json:"type"`
	Format  string            `json:"format,omitempty"` // HEADER: TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION, PRODUCT
	Text    string            `json:"text,omitempty"`
	Example *ComponentExample `json:"example,omitempty"`
	Buttons []Button          `json:"buttons,omitempty"`

	AddSecurityRecommendation bool   `json:"add_security_recommendation,omitempty"` // BODY of a one-time code
	CodeExpirationMinutes     int    `json:"code_expiration_minutes,omitempty"`     // FOOTER of a one-time code
	LimitedTimeOffer          *Offer `json:"limited_time_offer,omitempty"`
	Cards                     []Card `json:"cards,omitempty"` // CAROUSEL

	Rest Members `json:"-"` // members that this program does not know, as the channel sent them
}

// Offer is the text of a limited-time offer, and whether it shows when it ends.
type Offer struct {
	Text          string `json:"text"`
	HasExpiration bool   `json:"has_expiration"`

	Rest Members `json:"-"`
}

// Card is one card of a carousel.
type Card struct {
	Components []Component `json:"components"` // HEADER, BODY, BUTTONS

	Rest Members `json:"-"`
}

// ComponentExample holds the sample values for the reviewer.
type ComponentExample struct {
	HeaderText            Samples        `json:"header_text,omitempty"`
	HeaderHandle          Samples        `json:"header_handle,omitempty"`
	HeaderTextNamedParams []NamedExample `json:"header_text_named_params,omitempty"`
	BodyText              SampleRows     `json:"body_text,omitempty"`
	BodyTextNamedParams   []NamedExample `json:"body_text_named_params,omitempty"`

	Rest Members `json:"-"`
}

// NamedExample is the sample of one named variable.
type NamedExample struct {
	ParamName string `json:"param_name"`
	Example   string `json:"example"`
}

// Button is one button of a template.
type Button struct {
	// URL, QUICK_REPLY, PHONE_NUMBER, OTP, COPY_CODE, CATALOG, MPM, SPM, FLOW, VOICE_CALL or REQUEST_CONTACT_INFO
	Type        string  `json:"type"`
	Text        string  `json:"text,omitempty"`
	URL         string  `json:"url,omitempty"`
	PhoneNumber string  `json:"phone_number,omitempty"`
	Example     Samples `json:"example,omitempty"`

	OTPType              string `json:"otp_type,omitempty"` // OTP: COPY_CODE, ONE_TAP, ZERO_TAP
	AutofillText         string `json:"autofill_text,omitempty"`
	ZeroTapTermsAccepted bool   `json:"zero_tap_terms_accepted,omitempty"`
	SupportedApps        []App  `json:"supported_apps,omitempty"`
	FlowID               string `json:"flow_id,omitempty"`
	FlowName             string `json:"flow_name,omitempty"`
	FlowJSON             string `json:"flow_json,omitempty"`
	FlowAction           string `json:"flow_action,omitempty"`
	NavigateScreen       string `json:"navigate_screen,omitempty"`
	Icon                 string `json:"icon,omitempty"`

	Rest Members `json:"-"`
}

// App is an Android app that may read a one-time code.
type App struct {
	PackageName   string `json:"package_name"`
	SignatureHash string `json:"signature_hash"`
}
