package provider

// The types of free-form messages.
const (
	MessageText            = "text"
	MessageImage           = "image"
	MessageVideo           = "video"
	MessageAudio           = "audio"
	MessageDocument        = "document"
	MessageSticker         = "sticker"
	MessageButtons         = "buttons"
	MessageList            = "list"
	MessageLink            = "link"
	MessageLocation        = "location"
	MessageLocationRequest = "location_request"
	MessageContacts        = "contacts"
	MessageContactRequest  = "contact_request"
	MessageCallPermission  = "call_permission_request"
	MessageProduct         = "product"
	MessageProducts        = "products"
	MessageFlow            = "flow"
	MessageReaction        = "reaction"
)

// Message is a free-form message of an application to a person who wrote within the last day. Its type determines the
// members that are set (docs/reference/messages.md).
type Message struct {
	Type       string           `json:"type"`
	Text       string           `json:"text,omitempty"`
	PreviewURL bool             `json:"preview_url,omitempty"`
	Header     *MessageHeader   `json:"header,omitempty"`
	Footer     string           `json:"footer,omitempty"`
	Media      *MessageFile     `json:"media,omitempty"`
	Buttons    []Option         `json:"buttons,omitempty"`
	List       *OptionList      `json:"list,omitempty"`
	Link       *MessageURL      `json:"link,omitempty"`
	Location   *Location        `json:"location,omitempty"`
	Contacts   []Card           `json:"contacts,omitempty"`
	Product    *Product         `json:"product,omitempty"`
	Products   *ProductList     `json:"products,omitempty"`
	Flow       *MessageFlowForm `json:"flow,omitempty"`
	Reaction   *Reaction        `json:"reaction,omitempty"`
	// ReplyTo is the id of the message that this one answers; empty for none. In a request it is the caller's id, in a
	// Reply the channel's. The same applies to the id of Reaction.
	ReplyTo string `json:"reply_to,omitempty"`
}

// MessageHeader is the text or the file above a message; one member is set.
type MessageHeader struct {
	Text     string `json:"text,omitempty"`
	Image    string `json:"image,omitempty"` // URLs
	Video    string `json:"video,omitempty"`
	Document string `json:"document,omitempty"`
}

// MessageFile is a file at a public URL.
type MessageFile struct {
	URL      string `json:"url"`
	Caption  string `json:"caption,omitempty"`
	Filename string `json:"filename,omitempty"` // of a document
	Voice    bool   `json:"voice,omitempty"`    // audio is shown as a voice message
}

// Option is a button or a row of a list. A person's choice of it carries the id.
type Option struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"` // of a row
}

// OptionList is a list of rows that a button opens.
type OptionList struct {
	Button   string          `json:"button"`
	Sections []OptionSection `json:"sections"`
}

// OptionSection is a part of an OptionList.
type OptionSection struct {
	Title string   `json:"title,omitempty"`
	Rows  []Option `json:"rows"`
}

// MessageURL is a button that opens a URL.
type MessageURL struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Location is a geographic location in a message. Zero is a valid coordinate.
type Location struct {
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	Name      string   `json:"name,omitempty"`
	Address   string   `json:"address,omitempty"`
}

// ProductList is a choice of products from a catalog.
type ProductList struct {
	Catalog  string           `json:"catalog_id"`
	Sections []ProductSection `json:"sections"`
}

// ProductSection is a part of a ProductList.
type ProductSection struct {
	Title    string   `json:"title,omitempty"`
	Products []string `json:"product_ids"`
}

// MessageFlowForm opens a flow of the channel, by its id or name.
type MessageFlowForm struct {
	ID     string         `json:"id,omitempty"`
	Name   string         `json:"name,omitempty"`
	Button string         `json:"button"`
	Token  string         `json:"token"`
	Screen string         `json:"screen,omitempty"` // empty: the flow's server chooses it
	Data   map[string]any `json:"data,omitempty"`   // of the screen
}

// Reaction reacts to a message of the person; an empty emoji removes the reaction.
type Reaction struct {
	MessageID string `json:"message_id"`
	Emoji     string `json:"emoji"`
}

// Options returns the buttons or rows that a person can choose.
func (m *Message) Options() []Option {
	all := m.Buttons
	if m.List != nil {
		for _, s := range m.List.Sections {
			all = append(all[:len(all):len(all)], s.Rows...)
		}
	}
	return all
}
