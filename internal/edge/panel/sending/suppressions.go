package sending

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/identity"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/settings"
)

// Suppressions serves the numbers that a company's messages and calls skip.
type Suppressions struct {
	Gate  *member.Gate
	Store *store.Store
}

func (x Suppressions) Routes() []httpio.Route {
	const read, write = auth.MayReadNotifications, auth.MaySendNotifications
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/suppressions", read, x.list),
		member.Route(x.Gate, "POST", "/suppressions", write, x.add).Taking(suppressRequest{}),
		member.Route(x.Gate, "DELETE", "/suppressions/{id}", write, x.lift),
		x.Gate.Raw("GET", "/suppressions/export", read, x.export),
	}
}

const (
	suppressionList      = "suppressions" // cursor kind
	maxSuppressions      = 5000           // numbers per request
	suppressionReason    = 255            // characters
	suppressionsExported = 1000           // rows read at a time
)

type suppressionRow struct {
	Number    string                   `json:"number"`            // empty if unknown
	UserID    string                   `json:"user_id,omitempty"` // the channel's id of the person
	Type      settings.SuppressionType `json:"type"`
	Reason    string                   `json:"reason"`
	Author    string                   `json:"author,omitempty"` // e-mail address of the member who added it
	CreatedAt string                   `json:"created_at"`
}

func suppressionRowOf(x settings.Suppression) suppressionRow {
	return suppressionRow{x.Number, x.UserID, x.Type, x.Reason, x.Author, carillon.FormatTime(x.CreatedAt)}
}

// list responds with a page of the list, ordered by number. ?number= filters by prefix.
func (x Suppressions) list(r *http.Request, by member.Member) (httpio.List[suppressionRow], error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, suppressionList)
	if err != nil {
		return httpio.List[suppressionRow]{}, err
	}
	begins := strings.Map(digit, q.Get("number"))
	if begins == "" && q.Get("number") != "" || len(begins) > maxNumber || strings.Trim(begins, "0123456789") != "" {
		return httpio.List[suppressionRow]{}, carillon.InvalidValue(
			"number", "Digits that numbers begin with", carillon.Shorten(q.Get("number")),
		)
	}
	found, err := x.Store.Suppressions.SuppressionsFrom(r.Context(), by.CompanyID, begins, page.After, page.Limit+1)
	return httpio.ListOf(
		page, suppressionList, found, func(x settings.Suppression) string { return x.Address() }, suppressionRowOf,
	), err
}

const maxNumber = 15 // digits

// digit drops the separators that people write between the digits of a number.
func digit(c rune) rune {
	if strings.ContainsRune("+ ()-./", c) {
		return -1
	}
	return c
}

// suppressed counts the numbers of a request, and those that were not suppressed before.
type suppressed struct {
	Added int `json:"added"`
	Given int `json:"given"`
}

// suppressRequest adds suppressions.
type suppressRequest struct {
	Numbers []string `json:"numbers"`
	Type    string   `json:"type,omitempty"`
	Reason  string   `json:"reason,omitempty"`
}

// add adds numbers. The response has the number of distinct numbers given. Numbers already on the list are unchanged,
// unless the type All widens their suppression.
func (x Suppressions) add(r *http.Request, by member.Member) (suppressed, error) {
	o, err := form.Body[suppressRequest](r)
	if err != nil {
		return suppressed{}, err
	}
	numbers, err := readNumbers(o)
	if err != nil {
		return suppressed{}, err
	}
	of, err := readSuppressionType(o.String("type", "type"))
	if err != nil {
		return suppressed{}, err
	}
	reason, _, err := o.String("reason", "reason")
	if err != nil {
		return suppressed{}, err
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		reason = "manual"
	} else if utf8.RuneCountInString(reason) > suppressionReason {
		return suppressed{}, carillon.Invalid("reason", "At most "+strconv.Itoa(suppressionReason)+" characters")
	}
	added, err := x.Store.Suppressions.AddSuppressions(
		r.Context(), by.CompanyID, settings.Suppression{Type: of, Reason: reason, Author: by.Email, CreatedAt: time.Now()},
		numbers...,
	)
	return suppressed{added, len(numbers)}, err
}

func readNumbers(o *jsonbody.Object) ([]string, error) {
	const field = "numbers"
	elements, _, err := o.Array(field, field)
	switch {
	case err != nil:
		return nil, err
	case len(elements) == 0:
		return nil, carillon.Missing(field)
	case len(elements) > maxSuppressions:
		return nil, carillon.Invalid(field, "At most "+strconv.Itoa(maxSuppressions)+" at once")
	}
	numbers := make([]string, len(elements))
	for i, e := range elements {
		name := field + "." + strconv.Itoa(i)
		text, _, err := e.String(name)
		if err != nil {
			return nil, err
		}
		if numbers[i], err = form.Number(name, text); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

func readSuppressionType(text string, present bool, err error) (settings.SuppressionType, error) {
	switch of := settings.SuppressionType(text); {
	case err != nil:
		return "", err
	case !present, of == settings.SuppressAll:
		return settings.SuppressAll, nil
	case of == settings.SuppressMarketing:
		return of, nil
	}
	return "", carillon.InvalidValue("type", "One of all, marketing", carillon.Shorten(text))
}

// lift removes a person, given by number or by the channel's id.
func (x Suppressions) lift(r *http.Request, by member.Member) (httpio.None, error) {
	address := r.PathValue("id")
	if !carillon.ValidNumber(address) && !identity.ValidUser(address) {
		return nil, carillon.Absent("Suppression")
	}
	removed, err := x.Store.Suppressions.Unsuppress(r.Context(), by.CompanyID, identity.Of(address))
	if err == nil && !removed {
		err = carillon.Absent("Suppression")
	}
	return nil, err
}

// export responds with the whole list as a CSV file, read page by page.
func (x Suppressions) export(w http.ResponseWriter, r *http.Request, by member.Member) error {
	page, err := x.Store.Suppressions.SuppressionsFrom(r.Context(), by.CompanyID, "", "", suppressionsExported)
	if err != nil {
		return err
	}
	out := csv.NewWriter(httpio.OpenDownload(w, "suppressions.csv"))
	_ = out.Write([]string{"number", "type", "reason", "author", "created_at", "user_id"}) // errors are reported by Error
	for len(page) > 0 {
		for _, s := range page {
			_ = out.Write([]string{
				s.Number, string(s.Type), httpio.Cell(s.Reason), httpio.Cell(s.Author), carillon.FormatTime(s.CreatedAt), s.UserID,
			})
		}
		if out.Flush(); out.Error() != nil {
			return nil //nolint:nilerr // the caller has disconnected, and the response has begun
		}
		if page, err = x.Store.Suppressions.SuppressionsFrom(
			r.Context(), by.CompanyID, "", page[len(page)-1].Address(), suppressionsExported,
		); err != nil {
			panic(http.ErrAbortHandler) // a truncated file must not look complete
		}
	}
	return nil
}
