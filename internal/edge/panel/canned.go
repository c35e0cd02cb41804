package panel

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/store/chats"
)

// canned serves the answers that a company's teammates write often.
type canned struct{ *Panel }

// validShortcut is what calls a canned reply while a teammate writes.
var validShortcut = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

const cannedMost = 4000 // characters

func (x canned) routes() []httpio.Route {
	const all, one = "/canned-replies", "/canned-replies/{id}"
	return []httpio.Route{
		x.route("GET", all, auth.MayReadConversations, x.list),
		writeRoute(x.Panel, "POST", all, auth.MayAnswerConversations, x.add),
		writeRoute(x.Panel, "PUT", one, auth.MayAnswerConversations, x.replace),
		writeRoute(x.Panel, "DELETE", one, auth.MayAnswerConversations, x.remove),
	}
}

// list responds with all of them: a company has few.
func (x canned) list(r *http.Request, by member) (any, error) {
	rows, err := x.Store.Canned.List(r.Context(), by.companyID)
	return struct {
		Data []chats.Canned `json:"data"`
	}{append([]chats.Canned{}, rows...)}, err
}

func (x canned) add(r *http.Request, by member) (any, error) {
	c, err := readCanned(r)
	if err != nil {
		return nil, err
	}
	if err := x.Store.Canned.Add(r.Context(), by.companyID, &c, time.Now()); err != nil {
		return nil, err
	}
	return httpio.Created{Value: c}, nil
}

func (x canned) replace(r *http.Request, by member) (any, error) {
	id, err := x.id(r)
	if err != nil {
		return nil, err
	}
	c, err := readCanned(r)
	if err != nil {
		return nil, err
	}
	c.ID = id
	return c, x.Store.Canned.Replace(r.Context(), by.companyID, c, time.Now())
}

func (x canned) remove(r *http.Request, by member) (any, error) {
	id, err := x.id(r)
	if err != nil {
		return nil, err
	}
	return nil, x.Store.Canned.Delete(r.Context(), by.companyID, id)
}

func (x canned) id(r *http.Request) (string, error) {
	id := strings.ToLower(r.PathValue("id"))
	if !carillon.ValidUUID(id) {
		return "", carillon.Absent("Canned reply")
	}
	return id, nil
}

func readCanned(r *http.Request) (c chats.Canned, err error) {
	o, err := object(r, "shortcut", "text")
	if err != nil {
		return c, err
	}
	if c.Shortcut, err = o.Find("shortcut").Required("shortcut"); err != nil {
		return c, err
	}
	if !validShortcut.MatchString(c.Shortcut) {
		return c, carillon.Invalid("shortcut", "Must be 1 to 40 characters of a-z, 0-9, _ and -")
	}
	c.Text, err = lines(o, "text", cannedMost)
	return c, err
}
