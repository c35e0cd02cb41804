package inbox

import (
	"net/http"
	"regexp"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/chats"
)

// Canned serves a company's canned replies.
type Canned struct {
	Gate  *member.Gate
	Store *store.Store
}

// validShortcut matches the shortcut that inserts a canned reply while a teammate writes.
var validShortcut = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

const maxCanned = 4000 // characters

func (x Canned) Routes() []httpio.Route {
	const all, one = "/canned-replies", "/canned-replies/{id}"
	return []httpio.Route{
		member.Route(x.Gate, "GET", all, auth.MayReadConversations, x.list),
		member.Write(x.Gate, "POST", all, auth.MayAnswerConversations, x.add).Taking(cannedRequest{}),
		member.Write(x.Gate, "PUT", one, auth.MayAnswerConversations, member.ID("Canned reply", x.replace)).Taking(cannedRequest{}),
		member.Write(x.Gate, "DELETE", one, auth.MayAnswerConversations, member.ID("Canned reply", x.remove)),
	}
}

// list responds with all canned replies, without pages: a company has few.
func (x Canned) list(r *http.Request, by member.Member) (httpio.Rows[chats.Canned], error) {
	rows, err := x.Store.Canned.List(r.Context(), by.CompanyID)
	return httpio.RowsOf(append([]chats.Canned{}, rows...)), err
}

func (x Canned) add(r *http.Request, by member.Member) (httpio.Created[chats.Canned], error) {
	c, err := readCanned(r)
	if err != nil {
		return httpio.Created[chats.Canned]{}, err
	}
	if err := x.Store.Canned.Add(r.Context(), by.CompanyID, &c, time.Now()); err != nil {
		return httpio.Created[chats.Canned]{}, err
	}
	return httpio.Created[chats.Canned]{Value: c}, nil
}

func (x Canned) replace(r *http.Request, by member.Member, id string) (chats.Canned, error) {
	c, err := readCanned(r)
	if err != nil {
		return chats.Canned{}, err
	}
	c.ID = id
	return c, x.Store.Canned.Replace(r.Context(), by.CompanyID, c, time.Now())
}

func (x Canned) remove(r *http.Request, by member.Member, id string) (httpio.None, error) {
	return nil, x.Store.Canned.Delete(r.Context(), by.CompanyID, id)
}

// cannedRequest writes a canned reply.
type cannedRequest struct {
	Shortcut string `json:"shortcut"`
	Text     string `json:"text"`
}

func readCanned(r *http.Request) (c chats.Canned, err error) {
	o, err := form.Body[cannedRequest](r)
	if err != nil {
		return c, err
	}
	if c.Shortcut, err = o.Find("shortcut").Required("shortcut"); err != nil {
		return c, err
	}
	if !validShortcut.MatchString(c.Shortcut) {
		return c, carillon.Invalid("shortcut", "Must be 1 to 40 characters of a-z, 0-9, _ and -")
	}
	c.Text, err = form.Lines(o, "text", maxCanned)
	return c, err
}
