package account

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

// Keys serves the access keys of a company.
type Keys struct {
	Gate  *member.Gate
	Store *store.Store
}

func (p Keys) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(p.Gate, "GET", "/keys", auth.MayReadKeys, p.listKeys),
		member.Route(p.Gate, "POST", "/keys", auth.MayWriteKeys, p.createKey).Taking(keyRequest{}),
		member.Route(p.Gate, "DELETE", "/keys/{id}", auth.MayWriteKeys, p.revokeKey),
	}
}

// maxKeys limits the unrevoked keys of a company.
const maxKeys = 500

// prefixLength is the number of characters of a key shown in lists: enough to distinguish keys, too few to guess the
// rest.
const prefixLength = 8

// keyRow is an access key in a response. Key is set only in the response to its creation.
type keyRow struct {
	ID        string   `json:"id"`
	Label     string   `json:"label"`
	Key       string   `json:"key,omitempty"`
	Prefix    string   `json:"prefix"`
	Scopes    []string `json:"scopes"`
	IsActive  bool     `json:"is_active"`
	ExpiresAt *string  `json:"expires_at"`
	RevokedAt *string  `json:"revoked_at"`
	LastUsed  *string  `json:"last_used"`
	CreatedAt string   `json:"created_at"`
}

func (p Keys) keyRow(k *accounts.AccessKey) keyRow {
	live := k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || time.Now().Before(k.ExpiresAt))
	return keyRow{
		ID: k.ID, Label: k.Label, Prefix: k.Key[:min(prefixLength, len(k.Key)/2)], Scopes: k.Scopes, IsActive: live,
		ExpiresAt: auth.TimeOrNull(k.ExpiresAt), RevokedAt: auth.TimeOrNull(k.RevokedAt),
		LastUsed:  auth.TimeOrNull(p.Gate.Auth.LastUsed(k)),
		CreatedAt: carillon.FormatTime(k.CreatedAt),
	}
}

func (p Keys) listKeys(r *http.Request, by member.Member) (httpio.List[keyRow], error) {
	page, err := httpio.ReadPage(r.URL.Query(), "key")
	if err != nil {
		return httpio.List[keyRow]{}, err
	}
	keys, err := p.Store.Keys.AccessKeys(r.Context(), by.CompanyID, page.After, page.Limit+1)
	return httpio.ListOf(page, "key", keys, func(k *accounts.AccessKey) string { return k.ID }, p.keyRow), err
}

// keyRequest creates a key.
type keyRequest struct {
	Label     string   `json:"label"`
	Scopes    []string `json:"scopes,omitempty"`
	ExpiresAt *string  `json:"expires_at,omitempty"`
}

func (p Keys) createKey(r *http.Request, by member.Member) (httpio.Created[keyRow], error) {
	o, err := form.Body[keyRequest](r)
	if err != nil {
		return httpio.Created[keyRow]{}, err
	}
	now := time.Now()
	k := accounts.AccessKey{CompanyID: by.CompanyID, Key: auth.NewKey()}
	if k.Label, err = form.Text(o, "label", maxLabel); err != nil {
		return httpio.Created[keyRow]{}, err
	}
	if k.Scopes, err = scopes(o); err != nil {
		return httpio.Created[keyRow]{}, err
	}
	if k.ExpiresAt, err = expiry(o, now); err != nil {
		return httpio.Created[keyRow]{}, err
	}
	if err := p.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		n, err := accounts.CountKeys(ctx, tx, by.CompanyID)
		if err != nil {
			return err
		}
		if n >= maxKeys {
			return tooManyKeys(n)
		}
		return accounts.PutKey(ctx, tx, &k, now)
	}); err != nil {
		return httpio.Created[keyRow]{}, err
	}
	row := p.keyRow(&k)
	row.Key = k.Key
	return httpio.Created[keyRow]{Value: row}, nil
}

func tooManyKeys(n int) *carillon.Error {
	return &carillon.Error{Code: carillon.LimitExceeded, Message: "The company has too many keys", Details: carillon.Details{
		{Key: "limit", Value: maxKeys}, {Key: "used", Value: n},
	}}
}

func (p Keys) revokeKey(r *http.Request, by member.Member) (httpio.None, error) {
	id := r.PathValue("id")
	if !carillon.ValidUUID(id) {
		return nil, carillon.Absent("Key")
	}
	return nil, p.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.RevokeKey(ctx, tx, by.CompanyID, id, time.Now())
	})
}

const maxLabel = 100 // characters

// scopes reads a list of scopes. An absent list means all scopes.
func scopes(o *jsonbody.Object) ([]string, error) {
	const field = "scopes"
	all, present, err := o.Find(field).Strings(field)
	switch {
	case err != nil:
		return nil, err
	case !present:
		return []string{string(auth.All)}, nil
	case len(all) == 0:
		return nil, carillon.Invalid(field, "Must name at least one scope")
	}
	for i, s := range all {
		if !auth.ValidScope(s) {
			return nil, carillon.Invalid(field+"."+strconv.Itoa(i), "Must be one of "+form.Known(auth.Scopes()))
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// expiry reads a time in the future, or zero if absent.
func expiry(o *jsonbody.Object, now time.Time) (time.Time, error) {
	const field = "expires_at"
	s, present, err := o.String(field, field)
	if err != nil || !present {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, carillon.Invalid(field, "Must be an RFC 3339 instant such as 2030-01-01T00:00:00Z")
	}
	if !t.After(now) {
		return time.Time{}, carillon.Invalid(field, "Must be in the future")
	}
	return t.UTC(), nil
}
