package provider

// Enclosed are the parts of a message in the channel's own words. The text of the message has all of them too, as a person reads them.
type Enclosed struct {
	Form     []Answer  `json:"form,omitempty"`
	Order    *Order    `json:"order,omitempty"`
	Cards    []Card    `json:"cards,omitempty"`
	Place    *Place    `json:"location,omitempty"`
	Product  *Product  `json:"product,omitempty"`  // the one that it is about
	Referral *Referral `json:"referral,omitempty"` // the ad or post that led to it
	Group    string    `json:"group,omitempty"`    // the id of the group that it was written in
	Writer   string    `json:"writer,omitempty"`   // in a group, the number or the channel's id of the person who wrote it
}

// Answer is one field of a form. Its question is derived from its name, which a program knows it by.
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

// OrderItem is a product of an order. Numbers are as the channel has them.
type OrderItem struct {
	Product  string `json:"product_id"`
	Quantity string `json:"quantity"`
	Price    string `json:"price,omitempty"` // of one
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

// Place is a point on the earth.
type Place struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Name      string  `json:"name,omitempty"`
	Address   string  `json:"address,omitempty"`
	URL       string  `json:"url,omitempty"`
}

// Product is one of a catalog.
type Product struct {
	Catalog string `json:"catalog_id,omitempty"`
	ID      string `json:"product_id"`
}

// Referral is an ad or a post by which somebody came.
type Referral struct {
	SourceType string `json:"source_type,omitempty"` // ad or post
	SourceID   string `json:"source_id,omitempty"`
	SourceURL  string `json:"source_url,omitempty"`
	Headline   string `json:"headline,omitempty"`
	Body       string `json:"body,omitempty"`
	MediaType  string `json:"media_type,omitempty"`
	Click      string `json:"ctwa_clid,omitempty"` // the channel's id of the click
}

// labels are the types of inbound messages that metrics have.
var labels = map[string]bool{ //nolint:gochecknoglobals // read only
	"text": true, "button": true, "choice": true, "form": true, "order": true, "contacts": true, "location": true, "image": true,
	"video": true, "audio": true,
	"document": true, "sticker": true, "file": true, "reaction": true, "edit": true, "revoke": true, "call_permission_reply": true,
	"system": true, "unsupported": true,
}

// Label is the label of a message in metrics: its type at the channel, or "other".
func (in *Inbound) Label() string {
	switch {
	case labels[in.Type]:
		return in.Type
	case in.Type == "" && in.Kind != InboundUnsupported && labels[string(in.Kind)]: // a channel without types
		return string(in.Kind)
	}
	return "other"
}
