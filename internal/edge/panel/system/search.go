package system

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/identity"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/resources"
	"carillon/internal/store/stats"
)

const (
	minSearch    = 2   // characters; fewer find nothing
	maxSearch    = 255 // characters
	perKind      = 5   // objects of a kind in the response
	maxCampaigns = 500 // campaigns that a search reads, those used last
)

// Search finds objects of a company for the panel's palette.
type Search struct {
	Gate  *member.Gate
	Store *store.Store
	Sent  notify.Sent
	Kinds []resource.Kind // the kinds of resources that are searched, by name
}

func (x Search) Routes() []httpio.Route {
	return []httpio.Route{member.Route(x.Gate, "GET", "/search", auth.MayReadNotifications, x.search)}
}

// searchHit is an object that was found. Kind determines where it is shown: notification, message, number, call,
// conversation, person, template, campaign, sender, line, or a kind of resources.
type searchHit struct {
	Kind string `json:"kind"`
	ID   string `json:"id"` // person: the id of the latest conversation
	Name string `json:"name"`
	Text string `json:"text,omitempty"` // a number, a language or a second name
	N    int    `json:"n,omitempty"`    // message: its index in the notification

	Number string `json:"number,omitempty"` // person: the phone number
}

// finder finds objects of one or more kinds, for roles that have the permission.
type finder struct {
	kind  string // of all hits; "" if they are of several
	needs auth.Permission
	find  func(ctx context.Context, companyID, text string) ([]searchHit, error)
}

// search responds with the objects that have the text of the query as their id or number, or as a part of their name. A
// kind limits it to people, templates or campaigns.
func (x Search) search(r *http.Request, by member.Member) (list httpio.List[searchHit], err error) {
	text, err := form.Query(r.URL.Query(), "q", maxSearch)
	if err != nil {
		return list, err
	}
	list.Data = []searchHit{}
	if utf8.RuneCountInString(text) < minSearch {
		return list, nil
	}
	kind := r.URL.Query().Get("kind")
	for _, f := range x.finders() {
		if kind != "" && kind != f.kind || !by.Role.Can(f.needs) {
			continue
		}
		found, err := f.find(r.Context(), by.CompanyID, text)
		if err != nil {
			return list, err
		}
		list.Data = append(list.Data, found[:min(len(found), perKind)]...)
	}
	return list, nil
}

func (x Search) finders() []finder {
	all := []finder{
		{"", auth.MayReadNotifications, x.sent},
		{"", auth.MayReadConversations, x.conversation},
		{"person", auth.MayReadConversations, x.people},
		{"template", auth.MayReadTemplates, x.templates},
		{"campaign", auth.MayReadNotifications, x.campaigns},
		{"", auth.MayReadSenders, x.senders},
	}
	for _, k := range x.Kinds {
		all = append(all, finder{"", auth.MayReadResources, func(ctx context.Context, companyID, text string) ([]searchHit, error) {
			return x.resources(ctx, companyID, k, text)
		}})
	}
	return all
}

func (x Search) sent(ctx context.Context, companyID, text string) ([]searchHit, error) {
	hit, err := x.Sent.LookUp(ctx, companyID, text)
	if err != nil || hit.Kind == "" {
		return nil, err
	}
	return []searchHit{{Kind: hit.Kind, ID: hit.ID, Name: text, Text: hit.Number, N: hit.N}}, nil
}

func (x Search) conversation(ctx context.Context, companyID, text string) ([]searchHit, error) {
	id := strings.ToLower(text)
	if !carillon.ValidUUID(id) {
		return nil, nil
	}
	c, err := x.Store.Chats.Find(ctx, companyID, id)
	if carillon.IsCode(err, carillon.NotFound) || err == nil && c == nil {
		return nil, nil
	}
	return []searchHit{{Kind: "conversation", ID: id, Name: id}}, err
}

func (x Search) people(ctx context.Context, companyID, text string) ([]searchHit, error) {
	var key identity.Key
	digits := digitsOf(text)
	if digits != "" {
		key = identity.Number(digits)
	}
	found, err := x.Store.Contacts.Search(ctx, companyID, text, key, digits, 2*perKind)
	var hits []searchHit
	for _, f := range found {
		if f.ConversationID == "" {
			continue
		}
		names := slices.DeleteFunc([]string{f.Name, f.Username, f.Email, f.Number}, func(s string) bool { return s == "" })
		names = append(names, "", "")
		hits = append(hits, searchHit{Kind: "person", ID: f.ConversationID, Name: names[0], Text: names[1], Number: f.Number})
	}
	return hits, err
}

// digitsOf returns the digits of a text that can be a part of a number, and otherwise an empty text.
func digitsOf(text string) string {
	digits := strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "").Replace(text)
	if len(digits) < minDigits || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return digits
}

const minDigits = 4

func (x Search) templates(ctx context.Context, companyID, text string) ([]searchHit, error) {
	senders, err := x.Store.Senders.Senders(ctx, companyID)
	if err != nil {
		return nil, err
	}
	var hits []searchHit
	for _, s := range senders {
		if s.Channel != carillon.Messaging {
			continue
		}
		all, err := x.Store.Templates.Templates(ctx, s.UID)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			if contains(t.Name, text) || strings.EqualFold(t.ID, text) {
				hits = append(hits, searchHit{Kind: "template", ID: t.ID, Name: t.Name, Text: t.Language})
			}
		}
	}
	return hits, nil
}

func (x Search) campaigns(ctx context.Context, companyID, text string) ([]searchHit, error) {
	all, _, err := x.Store.Stats.Campaigns(ctx, companyID, stats.Cursor{}, maxCampaigns)
	var hits []searchHit
	for _, c := range all {
		if contains(c.Name, text) {
			hits = append(hits, searchHit{Kind: "campaign", ID: c.Name, Name: c.Name})
		}
	}
	return hits, err
}

func (x Search) senders(ctx context.Context, companyID, text string) ([]searchHit, error) {
	all, err := x.Store.Senders.Senders(ctx, companyID)
	var hits []searchHit
	for _, s := range all {
		digits := digitsOf(text)
		if !contains(s.ID, text) && (digits == "" || !strings.Contains(s.Number, digits)) {
			continue
		}
		kind := "sender"
		if s.Channel == carillon.Voice {
			kind = "line"
		}
		hits = append(hits, searchHit{Kind: kind, ID: s.ID, Name: s.ID, Text: s.Number})
	}
	return hits, err
}

func (x Search) resources(ctx context.Context, companyID string, k resource.Kind, text string) ([]searchHit, error) {
	found, err := resources.Search(ctx, x.Store.DB, companyID, k, text, perKind)
	hits := make([]searchHit, len(found))
	for i, f := range found {
		hits[i] = searchHit{Kind: f.Kind, ID: f.ID, Name: cmp.Or(f.Name, f.ID)}
	}
	return hits, err
}

func contains(name, text string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(text))
}
