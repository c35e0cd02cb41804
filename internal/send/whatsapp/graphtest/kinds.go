package graphtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// part is a component of a template as the channel reads it. It is read apart from the types of package carillon, so
// that a member of the wrong name or type is an error.
type part struct {
	Type           string   `json:"type"`
	Format         string   `json:"format"`
	Text           string   `json:"text"`
	Example        *samples `json:"example"`
	Buttons        []button `json:"buttons"`
	Recommendation *bool    `json:"add_security_recommendation"`
	Expiration     *int     `json:"code_expiration_minutes"`
	Offer          *offer   `json:"limited_time_offer"`
	Cards          []card   `json:"cards"`
}

type samples struct {
	HeaderText   []string      `json:"header_text"`
	HeaderHandle []string      `json:"header_handle"`
	HeaderNamed  []namedSample `json:"header_text_named_params"`
	BodyText     [][]string    `json:"body_text"`
	BodyNamed    []namedSample `json:"body_text_named_params"`
}

type namedSample struct {
	Name    string `json:"param_name"`
	Example string `json:"example"`
}

type offer struct {
	Text          string `json:"text"`
	HasExpiration *bool  `json:"has_expiration"`
}

type card struct {
	Components []part `json:"components"`
}

type button struct {
	Type           string          `json:"type"`
	Text           string          `json:"text"`
	URL            string          `json:"url"`
	Phone          string          `json:"phone_number"`
	Example        json.RawMessage `json:"example"`
	OTPType        string          `json:"otp_type"`
	Autofill       string          `json:"autofill_text"`
	Terms          bool            `json:"zero_tap_terms_accepted"`
	Apps           []app           `json:"supported_apps"`
	FlowID         string          `json:"flow_id"`
	FlowName       string          `json:"flow_name"`
	FlowJSON       string          `json:"flow_json"`
	FlowAction     string          `json:"flow_action"`
	NavigateScreen string          `json:"navigate_screen"`
	Icon           string          `json:"icon"`
}

type app struct {
	Package string `json:"package_name"`
	Hash    string `json:"signature_hash"`
}

// The channel's limits on templates.
const (
	maxBody1024  = 1024
	maxOfferBody = 600
	maxShortBody = 160
	maxHeader    = 60
	maxFooter    = 60
	maxLabel     = 25
	maxCards     = 10
)

var (
	variable  = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)
	namedForm = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
)

// variablesOf returns the distinct variables of a text.
func variablesOf(text string) []string {
	var all []string
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}

func length(s string) int { return utf8.RuneCountInString(s) }

func refuse(format string, a ...any) *Error { return refusal(2388073, fmt.Sprintf(format, a...)) }

// draft is a template under review.
type draft struct {
	category string
	named    bool
	parts    []part
}

func (d *draft) part(kind string) *part {
	for i := range d.parts {
		if d.parts[i].Type == kind {
			return &d.parts[i]
		}
	}
	return nil
}

func (d *draft) buttons() []button {
	if p := d.part("BUTTONS"); p != nil {
		return p.Buttons
	}
	return nil
}

func (d *draft) count(kind string) (n int) {
	for _, b := range d.buttons() {
		if b.Type == kind {
			n++
		}
	}
	return n
}

// review applies the channel's rules for templates of every kind.
func (d *draft) review(ttl *int) *Error {
	if e := d.reviewTTL(ttl); e != nil {
		return e
	}
	seen := map[string]bool{}
	for i := range d.parts {
		p := &d.parts[i]
		if seen[p.Type] {
			return refuse("component %s is given twice", p.Type)
		}
		seen[p.Type] = true
		if e := d.reviewMembers(p); e != nil {
			return e
		}
	}
	if d.category == "AUTHENTICATION" {
		return d.reviewCode()
	}
	for _, check := range []func() *Error{d.reviewTexts, d.reviewButtons, d.reviewOffer, d.reviewCarousel, d.reviewProducts} {
		if e := check(); e != nil {
			return e
		}
	}
	return d.reviewSamples(d.parts)
}

func (d *draft) reviewTTL(ttl *int) *Error {
	switch {
	case ttl == nil:
	case d.category == "MARKETING":
		return refuse("message_send_ttl_seconds is not for marketing templates")
	case *ttl == -1:
	case *ttl < 30, d.category == "AUTHENTICATION" && *ttl > 900, *ttl > 43200:
		return refuse("message_send_ttl_seconds is out of range")
	}
	return nil
}

// reviewMembers refuses unknown components, and members of another component.
func (d *draft) reviewMembers(p *part) *Error {
	own := map[string]bool{}
	switch p.Type {
	case "HEADER":
		own["format"], own["text"], own["example"] = true, true, true
	case "BODY":
		own["text"], own["example"], own["recommendation"] = true, true, d.category == "AUTHENTICATION"
	case "FOOTER":
		own["text"], own["expiration"] = true, d.category == "AUTHENTICATION"
	case "BUTTONS":
		own["buttons"] = true
	case "limited_time_offer":
		own["offer"] = true
	case "carousel":
		own["cards"] = true
	case "call_permission_request":
	default:
		return invalid("components: unknown type " + p.Type)
	}
	for name, given := range map[string]bool{
		"format": p.Format != "", "text": p.Text != "", "example": p.Example != nil, "buttons": p.Buttons != nil,
		"recommendation": p.Recommendation != nil, "expiration": p.Expiration != nil, "offer": p.Offer != nil, "cards": p.Cards != nil,
	} {
		if given && !own[name] {
			return invalid("components: " + name + " does not belong to " + p.Type)
		}
	}
	return nil
}

// reviewCode applies the rules for one-time codes, whose texts are the channel's.
func (d *draft) reviewCode() *Error {
	for i := range d.parts {
		if k := d.parts[i].Type; k != "BODY" && k != "FOOTER" && k != "BUTTONS" {
			return refuse("an authentication template has no %s", k)
		}
	}
	body, footer, buttons := d.part("BODY"), d.part("FOOTER"), d.buttons()
	switch {
	case body == nil || body.Recommendation == nil:
		return refuse("an authentication template has a BODY with add_security_recommendation")
	case body.Text != "" || body.Example != nil:
		return refuse("the text of an authentication template is fixed")
	case footer != nil && (footer.Text != "" || footer.Expiration == nil):
		return refuse("the footer of an authentication template has code_expiration_minutes alone")
	case footer != nil && (*footer.Expiration < 1 || *footer.Expiration > 90):
		return refuse("code_expiration_minutes is 1 to 90")
	case len(buttons) != 1 || buttons[0].Type != "OTP":
		return refuse("an authentication template has one button of type OTP")
	}
	return reviewOTP(&buttons[0])
}

func reviewOTP(b *button) *Error {
	switch {
	case b.URL != "" || b.Phone != "" || b.Example != nil || b.FlowID != "" || b.FlowName != "" || b.FlowJSON != "":
		return invalid("a button of type OTP has no such member")
	case length(b.Text) > maxLabel || length(b.Autofill) > maxLabel:
		return refuse("a label has at most 25 characters")
	case !slices.Contains([]string{"COPY_CODE", "ONE_TAP", "ZERO_TAP"}, b.OTPType):
		return invalid("otp_type must be one of COPY_CODE, ONE_TAP, ZERO_TAP")
	case b.OTPType == "COPY_CODE" && (b.Apps != nil || b.Autofill != "" || b.Terms):
		return invalid("a button that copies a code has no apps, autofill_text or terms")
	case b.OTPType != "COPY_CODE" && (len(b.Apps) < 1 || len(b.Apps) > 5):
		return refuse("supported_apps has 1 to 5 apps")
	case b.OTPType == "ZERO_TAP" && !b.Terms:
		return refuse("zero_tap_terms_accepted must be true")
	}
	for _, a := range b.Apps {
		if a.Package == "" || len(a.Package) > 224 || len(a.Hash) != 11 {
			return refuse("an app has a package_name of at most 224 characters and a signature_hash of exactly 11")
		}
	}
	return nil
}

// reviewTexts applies the rules for headers, bodies and footers.
func (d *draft) reviewTexts() *Error {
	body := d.part("BODY")
	switch {
	case body == nil || strings.TrimSpace(body.Text) == "":
		return refuse("a template has a BODY with text")
	case length(body.Text) > maxBody1024:
		return refuse("a body has at most 1024 characters")
	}
	if p := d.part("FOOTER"); p != nil && (p.Text == "" || length(p.Text) > maxFooter || variable.MatchString(p.Text)) {
		return refuse("a footer has 1 to 60 characters and no variable")
	}
	if p := d.part("HEADER"); p != nil {
		switch p.Format {
		case "TEXT":
			if p.Text == "" || length(p.Text) > maxHeader || len(variablesOf(p.Text)) > 1 {
				return refuse("a header has 1 to 60 characters and at most one variable")
			}
		case "IMAGE", "VIDEO", "DOCUMENT", "LOCATION", "product":
			if p.Text != "" || (p.Format == "LOCATION" || p.Format == "product") && p.Example != nil {
				return invalid("a header of format " + p.Format + " has no text")
			}
		default:
			return invalid("unknown format of a header")
		}
	}
	if d.named {
		for _, name := range slices.Concat(variablesOf(body.Text)) {
			if !namedForm.MatchString(name) {
				return refuse("a named variable has lower case letters, digits and underscores")
			}
		}
	}
	return nil
}

// reviewButtons applies the rules for each button and their mixture.
func (d *draft) reviewButtons() *Error {
	p := d.part("BUTTONS")
	if p == nil {
		return nil
	}
	if len(p.Buttons) < 1 || len(p.Buttons) > 10 {
		return refuse("a template has 1 to 10 buttons")
	}
	groups, last := 0, ""
	for i := range p.Buttons {
		b := &p.Buttons[i]
		if e := reviewButton(b); e != nil {
			return e
		}
		if b.Type == "QUICK_REPLY" && last != b.Type {
			groups++
		}
		last = b.Type
	}
	single := d.count("CATALOG") + d.count("MPM") + d.count("SPM")
	switch {
	case groups > 1:
		return refuse("quick replies are not mixed with other buttons")
	case d.count("URL") > 2 || d.count("PHONE_NUMBER") > 1 || d.count("COPY_CODE") > 1:
		return refuse("a template has at most 2 URLs, 1 phone number and 1 coupon code")
	case single > 0 && len(p.Buttons) > 1:
		return refuse("a button of a catalog is the only one")
	}
	return nil
}

// buttonMembers lists the members of a button without its type. A question mark follows an optional member.
var buttonMembers = map[string]string{
	"URL": "text url example?", "QUICK_REPLY": "text", "PHONE_NUMBER": "text phone_number", "COPY_CODE": "example", "CATALOG": "text",
	"MPM": "text", "SPM": "text", "FLOW": "text flow_id? flow_name? flow_json? flow_action? navigate_screen? icon?", "voice_call": "text",
	"REQUEST_CONTACT_INFO": "",
}

func reviewButton(b *button) *Error {
	members, known := buttonMembers[b.Type]
	if !known {
		return invalid("buttons: unknown type " + b.Type)
	}
	own := strings.Fields(members)
	for name, given := range map[string]bool{
		"text": b.Text != "", "url": b.URL != "", "phone_number": b.Phone != "", "example": b.Example != nil, "otp_type": b.OTPType != "",
		"autofill_text": b.Autofill != "", "zero_tap_terms_accepted": b.Terms, "supported_apps": b.Apps != nil, "flow_id": b.FlowID != "",
		"flow_name": b.FlowName != "", "flow_json": b.FlowJSON != "", "flow_action": b.FlowAction != "",
		"navigate_screen": b.NavigateScreen != "", "icon": b.Icon != "",
	} {
		required := slices.Contains(own, name)
		if given != required && !(given && slices.Contains(own, name+"?")) && (given || required) {
			return invalid("buttons: " + name + " of a " + b.Type)
		}
	}
	if length(b.Text) > maxLabel {
		return refuse("a label has at most 25 characters")
	}
	switch b.Type {
	case "COPY_CODE":
		var code string
		if json.Unmarshal(b.Example, &code) != nil || code == "" || length(code) > 20 {
			return refuse("the example of a coupon code is a text of 1 to 20 characters")
		}
	case "FLOW":
		if given := []string{b.FlowID, b.FlowName, b.FlowJSON}; len(slices.DeleteFunc(given, func(s string) bool { return s == "" })) != 1 {
			return refuse("a flow has one of flow_id, flow_name and flow_json")
		}
	}
	return nil
}

func (d *draft) reviewOffer() *Error {
	p := d.part("limited_time_offer")
	if p == nil {
		return nil
	}
	b, header := d.buttons(), d.part("HEADER")
	switch {
	case d.category != "MARKETING":
		return refuse("a limited-time offer is for marketing templates")
	case p.Offer == nil || p.Offer.HasExpiration == nil || p.Offer.Text == "" || length(p.Offer.Text) > 16:
		return refuse("a limited-time offer has a text of 1 to 16 characters and has_expiration")
	case length(d.part("BODY").Text) > maxOfferBody:
		return refuse("the body of an offer has at most 600 characters")
	case d.part("FOOTER") != nil:
		return refuse("a limited-time offer has no footer")
	case header != nil && header.Format != "IMAGE" && header.Format != "VIDEO":
		return refuse("the header of an offer is an image or a video")
	case len(b) != 2 || b[0].Type != "COPY_CODE" || b[1].Type != "URL":
		return refuse("the buttons of an offer are a coupon code and a URL")
	}
	return nil
}

func (d *draft) reviewCarousel() *Error {
	p := d.part("carousel")
	if p == nil {
		return nil
	}
	switch {
	case d.category != "MARKETING":
		return refuse("a carousel is for marketing templates")
	case len(d.parts) != 2:
		return refuse("a carousel has a body and nothing else")
	case len(p.Cards) < 2 || len(p.Cards) > maxCards:
		return refuse("a carousel has 2 to 10 cards")
	}
	for i := range p.Cards {
		if e := d.reviewCard(&p.Cards[i]); e != nil {
			return e
		}
		if structureOf(&p.Cards[i]) != structureOf(&p.Cards[0]) {
			return refuse("all cards have the same structure")
		}
	}
	if format := p.Cards[0].Components[0].Format; format == "product" && len(p.Cards) != 2 {
		return refuse("a carousel of products is created with 2 cards")
	}
	return nil
}

func structureOf(c *card) string {
	var b strings.Builder
	for _, p := range c.Components {
		b.WriteString(p.Type + p.Format)
		for _, x := range p.Buttons {
			b.WriteString(" " + x.Type)
		}
	}
	return b.String()
}

func (d *draft) reviewCard(c *card) *Error {
	x := draft{category: d.category, named: d.named, parts: c.Components}
	for i := range x.parts {
		if k := x.parts[i].Type; k != "HEADER" && k != "BODY" && k != "BUTTONS" {
			return refuse("a card has no %s", k)
		}
		if e := x.reviewMembers(&x.parts[i]); e != nil {
			return e
		}
	}
	if len(x.parts) == 0 {
		return refuse("a card has parts")
	}
	allowed, most := []string{"QUICK_REPLY", "URL", "PHONE_NUMBER"}, 2
	switch x.parts[0].Format {
	case "IMAGE", "VIDEO":
	case "product":
		allowed, most = []string{"SPM", "URL"}, 1
	default:
		return refuse("the header of a card is an image, a video or a product")
	}
	if body := x.part("BODY"); body != nil && (body.Text == "" || length(body.Text) > maxShortBody) {
		return refuse("the body of a card has 1 to 160 characters")
	}
	b := x.buttons()
	if len(b) < 1 || len(b) > most {
		return refuse("a card has 1 to %d buttons", most)
	}
	for i := range b {
		if !slices.Contains(allowed, b[i].Type) {
			return refuse("a card has no button of type %s", b[i].Type)
		}
		if e := reviewButton(&b[i]); e != nil {
			return e
		}
	}
	return x.reviewSamples(x.parts)
}

func (d *draft) reviewProducts() *Error {
	format := ""
	if p := d.part("HEADER"); p != nil {
		format = p.Format
	}
	switch {
	case d.count("MPM") > 0 && format != "TEXT":
		return refuse("a message of several products has a header with text")
	case (d.count("SPM") > 0) != (format == "product"):
		return refuse("a header of a product and its button belong together")
	case format == "product" && length(d.part("BODY").Text) > maxShortBody:
		return refuse("the body below a product has at most 160 characters")
	}
	return nil
}

// reviewSamples requires a sample for each variable, and for media.
func (d *draft) reviewSamples(parts []part) *Error {
	for i := range parts {
		p := &parts[i]
		if !d.sampled(p) {
			return refusal(2388043, "The "+strings.ToLower(p.Type)+" lacks a sample for each of its variables.")
		}
	}
	return nil
}

func (d *draft) sampled(p *part) bool {
	var ex samples
	if p.Example != nil {
		ex = *p.Example
	}
	names := variablesOf(p.Text)
	media := p.Format == "IMAGE" || p.Format == "VIDEO" || p.Format == "DOCUMENT"
	switch {
	case p.Type == "HEADER" && media:
		return len(ex.HeaderHandle) == 1 && ex.HeaderHandle[0] != "" && !strings.Contains(ex.HeaderHandle[0], "://")
	case p.Type == "HEADER" && len(names) > 0 && d.named:
		return namesAre(ex.HeaderNamed, names)
	case p.Type == "HEADER" && len(names) > 0:
		return len(ex.HeaderText) == 1
	case p.Type == "BODY" && len(names) > 0 && d.named:
		return namesAre(ex.BodyNamed, names)
	case p.Type == "BODY" && len(names) > 0:
		return len(ex.BodyText) == 1 && len(ex.BodyText[0]) == len(names)
	}
	for _, b := range p.Buttons {
		var list []string
		if b.Type == "URL" && variable.MatchString(b.URL) && (json.Unmarshal(b.Example, &list) != nil || len(list) != 1) {
			return false
		}
	}
	return true
}

func namesAre(given []namedSample, names []string) bool {
	return slices.EqualFunc(given, names, func(g namedSample, n string) bool { return g.Name == n && g.Example != "" })
}
