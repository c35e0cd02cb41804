package widget

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/convai"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

const (
	// addressAge is the lifetime of a signed address.
	addressAge = time.Minute
	// voiceAudience is the audience of tokens for voice conversations.
	voiceAudience = "voice"
	// voiceAge is the maximum lifetime of such a token. Each signed address comes with a new one.
	voiceAge = 24 * time.Hour
	// keptAfter is the time that the token remains valid after the conversation's end.
	keptAfter = time.Hour

	socketPath = "/v1/convai/conversation"
)

// Signed is the signed address of a socket, with the client's other data.
type Signed struct {
	URL               string `json:"signed_url"`
	ExpiresAt         string `json:"expires_at"`
	ConversationID    string `json:"conversation_id"`
	ConversationToken string `json:"conversation_token"`
	SDK               sdk    `json:"sdk"`
}

// sdk is the protocol that a client must support.
type sdk struct {
	Transport    string `json:"transport"`
	Protocol     string `json:"protocol"`
	InputFormat  string `json:"input_format"`
	OutputFormat string `json:"output_format"`
}

// signing is the context that a signed address is bound to.
type signing struct {
	conversation *chats.Conversation
	keyID        string
	origin       string
}

// signer issues signed addresses of sockets, and checks them when a socket is opened.
type signer struct {
	host          *host
	conversations *conversation.Conversations
	chats         *chats.Store
	signed        *chats.SignedAddresses
	engines       Client
}

func (d Deps) signer() signer { return signer{d.host(), d.Conversations, d.Chats, d.Signed, d.Engines} }

// sign issues the address of a socket for a conversation.
func (g signer) sign(ctx context.Context, s signing) (*Signed, error) {
	c, now := s.conversation, time.Now()
	token, expires := rand.Text(), now.Add(addressAge).Truncate(time.Second).UTC()
	if err := g.signed.Add(ctx, &chats.SignedAddress{
		ID: digest(token), CompanyID: c.CompanyID, ConversationID: c.ID, WidgetID: c.WidgetID, AgentID: c.AgentID, KeyID: s.keyID,
		Origin: s.origin, ExpiresAt: expires,
	}); err != nil {
		return nil, err
	}
	base, _ := g.host.addresses()
	q := url.Values{"agent_id": {c.AgentID}, "conversation": {c.ID}, "exp": {strconv.FormatInt(expires.Unix(), 10)}, "token": {token}}
	return g.responseFor(socketOf(base)+socketPath+"?"+q.Encode(), expires, s, now)
}

// responseFor returns the data that a client needs to open a socket at an address.
func (g signer) responseFor(address string, expires time.Time, s signing, now time.Time) (*Signed, error) {
	c := s.conversation
	token, _, err := g.host.token(session{
		Conversation: c.ID, Contact: c.ContactID, Company: c.CompanyID, Widget: c.WidgetID, Origin: s.origin,
	}, voiceAudience, voiceAge, now)
	if err != nil {
		return nil, err
	}
	return &Signed{
		URL: address, ExpiresAt: carillon.FormatTime(expires), ConversationID: c.ID, ConversationToken: token,
		SDK: sdk{Transport: "websocket", Protocol: convai.Protocol, InputFormat: convai.Format, OutputFormat: convai.Format},
	}, nil
}

// socketOf converts an http or https address to a WebSocket address.
func socketOf(address string) string { return "ws" + strings.TrimPrefix(address, "http") }

// digest returns the id of an address by its token: the database does not store tokens.
func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// admitted is an authorized socket.
type admitted struct {
	address      *chats.SignedAddress
	conversation *chats.Conversation
	widget       *companyWidget // without an id if a teammate tries an agent
}

// redeem checks and consumes the signed address of a request for a socket. Errors: unauthorized, forbidden.
func (g signer) redeem(r *http.Request) (*admitted, error) {
	ctx, q := r.Context(), r.URL.Query()
	token := q.Get("token")
	if token == "" {
		return nil, carillon.NoAccess("The signed address is missing", "missing")
	}
	a, err := g.signed.Find(ctx, digest(token))
	switch {
	case err != nil:
		return nil, err
	case a == nil:
		return nil, carillon.NoAccess("The signed address is invalid", "invalid")
	case q.Get("conversation") != a.ConversationID || q.Get("agent_id") != a.AgentID:
		return nil, carillon.Denied("The signed address is for another conversation")
	case !a.UsedAt.IsZero():
		return nil, carillon.NoAccess("The signed address was used", "used")
	case !a.ExpiresAt.After(time.Now()):
		return nil, carillon.NoAccess("The signed address is expired", "expired")
	}
	x := &admitted{address: a}
	if x.conversation, err = g.chats.Find(ctx, a.CompanyID, a.ConversationID); err != nil {
		return nil, err
	}
	if x.widget, err = g.widgetOf(ctx, x.conversation); err != nil {
		return nil, err
	}
	if err := g.mayOpen(r, x); err != nil {
		return nil, err
	}
	good, err := g.signed.Use(ctx, a.CompanyID, a.ID, time.Now())
	if err == nil && !good {
		err = carillon.NoAccess("The signed address was used", "used")
	}
	return x, err
}

// widgetOf returns the widget of a voice conversation. Errors: unauthorized if it was removed.
func (g signer) widgetOf(ctx context.Context, c *chats.Conversation) (*companyWidget, error) {
	if c.WidgetID == "" {
		company, err := g.host.companies.Company(ctx, c.CompanyID)
		return &companyWidget{&Widget{Kind: "voice", Agent: c.AgentID, Language: c.Language}, company}, err
	}
	f, err := g.host.find(ctx, "voice", c.WidgetID)
	if err == nil && (f == nil || f.company.ID != c.CompanyID) {
		err = carillon.NoAccess("The widget is gone", "revoked")
	}
	return f, err
}

// mayOpen checks the context that an address is bound to: the access key, the company and the page's origin.
func (g signer) mayOpen(r *http.Request, x *admitted) error {
	if err := g.checkAuthorization(r.Context(), x.address.KeyID, x.widget); err != nil {
		return err
	}
	if err := g.host.mayUse(r, x.widget); err != nil {
		return err
	}
	base, pages := g.host.addresses()
	origin := r.Header.Get("Origin")
	own := origin == "" || origin == originOf(pages) || origin == originOf(base)
	if bound := x.address.Origin; bound != "" && origin != bound || bound == "" && !own {
		return carillon.Denied("The signed address was given to a page of another origin")
	}
	return nil
}

// checkAuthorization checks that the company and the access key of a voice conversation are still valid. An empty keyID means
// that it was opened without a key.
func (g signer) checkAuthorization(ctx context.Context, keyID string, f *companyWidget) error {
	if err := f.company.Refusal(); err != nil {
		return err
	}
	if keyID == "" {
		return nil
	}
	p, err := g.host.auth.PrincipalByID(ctx, keyID)
	if err == nil && !p.Allows(auth.WidgetUse) {
		err = lacksScope()
	}
	return err
}

// Teammate is a member of a company who tries an agent.
type Teammate struct {
	CompanyID, AccountID, Name string
	Origin                     string // origin of the panel
}

// TalkTo issues the address of a socket on which a teammate talks with an agent, without a widget. Each agent has a
// separate conversation. Errors: not_found.
func (d Deps) TalkTo(ctx context.Context, by Teammate, agentID, language string) (*Signed, error) {
	c, _, err := d.Conversations.Open(ctx, conversation.Start{
		Channel: voiceChannel, AgentID: agentID, Language: language, Anew: true,
		Contact: chats.Contact{
			CompanyID: by.CompanyID, VisitorID: by.AccountID + "/" + agentID, Verified: true, Name: by.Name, Language: language,
		},
	})
	if err != nil {
		return nil, err
	}
	return d.signer().sign(ctx, signing{conversation: c, origin: by.Origin})
}
