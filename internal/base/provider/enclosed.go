package provider

// Enclosed holds the structured parts of a message in the channel's own terms. The text of the message also contains
// all of them in readable form.
type Enclosed struct {
	Form     []Answer  `json:"form,omitempty"`
	Order    *Order    `json:"order,omitempty"`
	Cards    []Card    `json:"cards,omitempty"`
	Place    *Place    `json:"location,omitempty"`
	Product  *Product  `json:"product,omitempty"`  // the product that the message is about
	Referral *Referral `json:"referral,omitempty"` // the ad or post that led to the message
	Group    string    `json:"group,omitempty"`    // id of the group in which the message was written
	Writer   string    `json:"writer,omitempty"`   // in a group, the number or the channel's id of the writer
}

// Answer is one field of a form. The question is derived from the name, which identifies the field to programs.
type Answer struct {
	Name     string `json:"name"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// Order is an order of products from a catalog.
type Order struct {
	Catalog string      `json:"catalog_id,omitempty"`
	Text    string      `json:"text,omitempty"`
	Items   []OrderItem `json:"items"`
}

// OrderItem is a product of an order. Numbers are kept in the channel's format.
type OrderItem struct {
	Product  string `json:"product_id"`
	Quantity string `json:"quantity"`
	Price    string `json:"price,omitempty"` // per item
	Currency string `json:"currency,omitempty"`
}

// Card is a contact card.
type Card struct {
	Name      string   `json:"name,omitempty"`
	Company   string   `json:"company,omitempty"`
	Title     string   `json:"title,omitempty"`
	Birthday  string   `json:"birthday,omitempty"`
	Numbers   []string `json:"numbers,omitempty"`
	Emails    []string `json:"emails,omitempty"`
	URLs      []string `json:"urls,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

// Place is a geographic location.
type Place struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Name      string  `json:"name,omitempty"`
	Address   string  `json:"address,omitempty"`
	URL       string  `json:"url,omitempty"`
}

// Product is a product of a catalog.
type Product struct {
	Catalog string `json:"catalog_id,omitempty"`
	ID      string `json:"product_id"`
}

// Referral is the ad or post through which a person came.
type Referral struct {
	SourceType string `json:"source_type,omitempty"` // ad or post
	SourceID   string `json:"source_id,omitempty"`
	SourceURL  string `json:"source_url,omitempty"`
	Headline   string `json:"headline,omitempty"`
	Body       string `json:"body,omitempty"`
	MediaType  string `json:"media_type,omitempty"`
	Click      string `json:"ctwa_clid,omitempty"` // the channel's id of the click
}

// labels are the types of inbound messages that have their own metrics label.
var labels = map[string]bool{ //nolint:gochecknoglobals // read-only
	"text": true, "button": true, "choice": true, "form": true, "order": true, "contacts": true, "location": true, "image": true,
	"video": true, "audio": true,
	"document": true, "sticker": true, "file": true, "reaction": true, "edit": true, "revoke": true, "call_permission_reply": true,
	"system": true, "unsupported": true,
}

// Label returns the message's label in metrics: its type at the channel, or "other".
func (in *Inbound) Label() string {
	switch {
	case labels[in.Type]:
		return in.Type
	case in.Type == "" && in.Kind != InboundUnsupported && labels[string(in.Kind)]: // for a channel without types
		return string(in.Kind)
	}
	return "other"
}
