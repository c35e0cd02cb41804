// Package system serves matters of a whole company or of the installation: settings, maintenance, the decision after a
// restore, activity, use of limits, concerns, and everything stored about one person.
package system

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/config"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

// Company serves a company's own settings, with the fields and rules of a set-up file. Limits protect the installation
// and its other companies, so only the operator may change them here.
type Company struct {
	Gate  *member.Gate
	Store *store.Store
}

func (x Company) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/company", auth.MayReadSettings, x.get),
		member.Route(x.Gate, "PUT", "/company", auth.MayWriteSettings, x.put),
	}
}

// companyShown is a company in a response, with the fields of a set-up file.
type companyShown struct {
	ID            string                 `json:"id"`
	Name          string                 `json:"name"`
	Strict        bool                   `json:"strict_recipient_id"`
	CallingHours  *carillon.CallingHours `json:"calling_hours"` // null means no restriction
	Redial        redialShown            `json:"redial"`
	RetentionDays int                    `json:"retention_days"` // 0 means unlimited
	RecordingDays int                    `json:"recording_days"` // 0 means as long as the conversation
	Limits        carillon.Limits        `json:"limits"`
	Version       string                 `json:"version"`         // version of all settings; a change must name the version it is based on
	LimitsOpen    bool                   `json:"limits_writable"` // whether the caller may change the limits
}

type redialShown struct {
	Outcomes []carillon.State `json:"outcomes"`
	Attempts int              `json:"attempts"`
	After    string           `json:"after"`
}

func (x Company) get(r *http.Request, by member.Member) (companyShown, error) {
	c, err := x.Store.Accounts.Company(r.Context(), by.CompanyID)
	if err != nil {
		return companyShown{}, err
	}
	return x.show(r, by, c)
}

func (x Company) show(r *http.Request, by member.Member, c *carillon.Company) (companyShown, error) {
	version, err := versionOf(c)
	if err != nil {
		return companyShown{}, err
	}
	outcomes := c.Redial.Outcomes
	if outcomes == nil {
		outcomes = []carillon.State{}
	}
	after := cmp.Or(c.Redial.After, carillon.NewCompany("").Redial.After) // a policy without redials may have no delay
	return companyShown{
		ID: c.ID, Name: c.Name, Strict: c.StrictRecipientID, CallingHours: c.CallingHours,
		Redial:        redialShown{outcomes, c.Redial.Attempts, after.String()},
		RetentionDays: c.RetentionDays, RecordingDays: c.RecordingDays, Limits: c.Limits, Version: version,
		LimitsOpen: by.Role.Can(auth.MayWriteSettings) && member.Operator(r.Context(), x.Store, by) == nil,
	}, nil
}

// versionOf returns a digest of the settings shown.
func versionOf(c *carillon.Company) (string, error) {
	of := *c
	of.Suppresses, of.Suspended, of.Inbox = false, false, carillon.InboxRules{}
	text, err := json.Marshal(of)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12]), err
}

func (x Company) put(r *http.Request, by member.Member) (companyShown, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return companyShown{}, err
	}
	version, err := o.Find("version").Required("version")
	if err != nil {
		return companyShown{}, err
	}
	limits := member.Operator(r.Context(), x.Store, by)
	var kept carillon.Company
	err = x.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		have, err := accounts.FindCompany(ctx, tx, by.CompanyID, "")
		if err != nil {
			return err
		}
		if have == nil {
			return carillon.Absent("Company")
		}
		now, err := versionOf(have)
		if err != nil {
			return err
		}
		if kept, err = config.CompanyOf(o, *have, "version"); err != nil {
			return err
		}
		switch {
		case now != version:
			return outdatedVersion()
		case kept.Limits != have.Limits && limits != nil:
			return carillon.Denied("Limits protect the whole installation: an owner of its first company changes them, or a set-up file")
		}
		return accounts.PutCompany(ctx, tx, &kept, time.Now())
	})
	if err != nil {
		return companyShown{}, err
	}
	return x.show(r, by, &kept)
}

// outdatedVersion returns the conflict for a change based on outdated settings.
func outdatedVersion() error {
	return &carillon.Error{Code: carillon.Conflict, Message: "The settings were changed meanwhile", Details: carillon.Details{
		{Key: "reason", Value: "changed_meanwhile"},
	}}
}
