package channels

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/config"
	"carillon/internal/base/identity"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

// SignUp connects numbers by the provider's dialog, with the operator's application.
type SignUp struct {
	Provider string
	AppID    string
	ConfigID string // configuration of the dialog
	Version  string // of the provider's API
	// Exchange exchanges the code of a finished dialog for the settings of a sender. Its errors name the failed step.
	Exchange func(ctx context.Context, g provider.Grant) (provider.Granted, error)
}

func (x Senders) signUpRoutes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/sender-sign-up", auth.MayWriteSenders, x.dialog),
		member.Route(x.Gate, "POST", "/sender-sign-up", auth.MayWriteSenders, x.signUp).Taking(signUpRequest{}),
	}
}

// signUpDialog has what the page needs to open the provider's dialog. It is empty without an application of the operator.
type signUpDialog struct {
	AppID    string `json:"app_id,omitempty"`
	ConfigID string `json:"config_id,omitempty"`
	Version  string `json:"version,omitempty"`
}

func (x Senders) dialog(*http.Request, member.Member) (signUpDialog, error) {
	if x.SignUp == nil {
		return signUpDialog{}, nil
	}
	return signUpDialog{x.SignUp.AppID, x.SignUp.ConfigID, x.SignUp.Version}, nil
}

// signUpRequest is the result of a finished dialog. The code is valid once, for seconds.
type signUpRequest struct {
	Code     string `json:"authorization_code"`
	WABAID   string `json:"waba_id"`
	NumberID string `json:"phone_number_id,omitempty"` // omitted: the only number of the account
}

const (
	maxCode       = 4096
	maxProviderID = 32
)

// Steps of a sign-up in the panel, as the details of its errors name them.
const (
	stepSubscription = "subscription"
	stepSender       = "sender"
	stepCallbacks    = "callbacks"
)

// signUp connects the number of a finished dialog: it exchanges the code, subscribes the application to the account,
// stores the sender, or gives the company's present sender of the number the new token, and directs the number's callbacks
// here. A sender that it created is removed again if a later step fails.
func (x Senders) signUp(r *http.Request, by member.Member) (w wholeSender, err error) {
	grant, err := readGrant(r)
	if err != nil {
		return w, err
	}
	if x.SignUp == nil {
		return w, carillon.InConflict("Numbers are connected by hand here")
	}
	if err := x.mayAsk(r, by); err != nil {
		return w, err
	}
	ctx := r.Context()
	granted, err := x.SignUp.Exchange(ctx, grant)
	if err != nil {
		return w, err
	}
	elsewhere, err := x.Store.Senders.ProvedElsewhere(ctx, by.CompanyID, granted.Number)
	if err != nil {
		return w, err
	}
	if elsewhere {
		return w, failedStep(stepSender, "number_taken", carillon.InConflict("Another company here has the number"))
	}
	p := x.Providers[x.SignUp.Provider]
	if err := p.Subscribe(ctx, &carillon.Sender{CompanyID: by.CompanyID, Settings: granted.Settings}); err != nil {
		return w, failedStep(stepSubscription, "subscription_refused", err)
	}
	s, known, err := x.keepGranted(ctx, by, granted)
	if err != nil {
		return w, failedStep(stepSender, "", err)
	}
	if at := x.callbackOf(s); at != nil && at.Public && p.Redirect != nil {
		if err := p.Redirect(ctx, s, at.URL); err != nil {
			if failed := x.undo(ctx, s, known); failed != nil {
				return w, failed
			}
			return w, failedStep(stepCallbacks, "callbacks_refused", err)
		}
	}
	return x.show(ctx, s)
}

func readGrant(r *http.Request) (g provider.Grant, err error) {
	o, err := form.Body[signUpRequest](r)
	if err != nil {
		return g, err
	}
	if g.Code, err = form.Text(o, "authorization_code", maxCode); err != nil {
		return g, err
	}
	if g.AccountID, err = form.Text(o, "waba_id", maxProviderID); err != nil {
		return g, err
	}
	number, err := form.Optional(o, "phone_number_id", func() (string, error) { return form.Text(o, "phone_number_id", maxProviderID) })
	if number != nil {
		g.NumberID = *number
	}
	return g, err
}

// failedStep adds the failed step of a sign-up to an error for the caller, and the refusal if the panel has a text for
// it.
func failedStep(step, refusal string, err error) error {
	e, ok := errors.AsType[*carillon.Error](err)
	if !ok || e.Details.Find("step") != nil {
		return err
	}
	named := *e
	named.Details = append(slices.Clip(e.Details), carillon.Detail{Key: "step", Value: step})
	if refusal != "" && e.Code == carillon.Conflict && e.Details.Find("refusal") == nil {
		named.Details = append(named.Details, carillon.Detail{Key: "refusal", Value: refusal})
	}
	return &named
}

// keepGranted stores the sender of a granted number: a new one, or the company's present one of this number with the new access.
// known is the present one as it was, or nil.
func (x Senders) keepGranted(ctx context.Context, by member.Member, granted provider.Granted) (s, known *carillon.Sender, err error) {
	for range 3 { // the same number may be connected twice at the same time
		if known, err = x.senderOf(ctx, by, granted); err != nil {
			return nil, nil, err
		}
		if known == nil {
			if s, err = newSender(x.SignUp.Provider, by.CompanyID, granted); err == nil {
				err = x.create(ctx, s)
			}
		} else {
			renewed := *known
			s = &renewed
			if s.Settings, err = renewedSettings(known, granted, x.Providers[x.SignUp.Provider].Away); err == nil {
				err = x.renew(ctx, s, known)
			}
		}
		if !carillon.IsCode(err, carillon.Conflict) {
			break
		}
	}
	return s, known, err
}

// senderOf returns the company's sender of a granted number, or nil.
func (x Senders) senderOf(ctx context.Context, by member.Member, granted provider.Granted) (*carillon.Sender, error) {
	all, err := x.Store.Senders.Senders(ctx, by.CompanyID)
	if err != nil {
		return nil, err
	}
	id := settingsOf(&carillon.Sender{Settings: granted.Settings})["phone_number_id"]
	i := slices.IndexFunc(all, func(s *carillon.Sender) bool {
		return s.Provider == x.SignUp.Provider && (settingsOf(s)["phone_number_id"] == id || identity.Number(s.Number).Is(granted.Number))
	})
	if i < 0 {
		return nil, nil
	}
	return all[i], nil
}

// newSender returns a sender as a member would enter it by hand.
func newSender(providerName, companyID string, granted provider.Granted) (*carillon.Sender, error) {
	body, err := json.Marshal(map[string]any{
		"number": granted.Number, "channel": carillon.Messaging, "provider": providerName, "settings": granted.Settings,
	})
	if err != nil {
		return nil, err
	}
	o, err := jsonbody.Parse(body)
	if err != nil {
		return nil, err
	}
	s, err := config.SenderOf(o)
	if err != nil {
		return nil, err
	}
	s.CompanyID = companyID
	return s, nil
}

// renewedSettings returns the settings of a sender with new access. It keeps its verify token, which the provider may know, and
// settings that access does not include, except another address of the provider.
func renewedSettings(s *carillon.Sender, granted provider.Granted, away *Away) (json.RawMessage, error) {
	values := settingsOf(s)
	verify := values["verify_token"]
	if away != nil {
		delete(values, away.Setting)
		delete(values, away.Mark)
	}
	if err := json.Unmarshal(granted.Settings, &values); err != nil {
		return nil, err
	}
	values["verify_token"] = cmp.Or(verify, values["verify_token"])
	return json.Marshal(values)
}

// renew stores the new access of a sender, unless it has changed since it was read.
func (x Senders) renew(ctx context.Context, s, known *carillon.Sender) error {
	return x.Store.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		have, err := settings.FindSender(ctx, tx, s.CompanyID, s.ID)
		if err != nil {
			return err
		}
		if have == nil || !bytes.Equal(have.Settings, known.Settings) {
			return carillon.InConflict("The sender has changed meanwhile")
		}
		_, err = settings.DeclareSender(ctx, tx, s, time.Now())
		return err
	})
}

// undo removes a sender that a sign-up created, or restores the former access of another, unless it has changed since then.
func (x Senders) undo(ctx context.Context, s, known *carillon.Sender) error {
	return x.Store.Config.Change(context.WithoutCancel(ctx), func(ctx context.Context, tx *configure.Tx) error {
		have, err := settings.FindSender(ctx, tx, s.CompanyID, s.ID)
		if err != nil || have == nil || !bytes.Equal(have.Settings, s.Settings) {
			return err
		}
		if known == nil {
			return settings.RemoveSender(ctx, tx, s.CompanyID, s.ID, time.Now())
		}
		before := *known
		_, err = settings.DeclareSender(ctx, tx, &before, time.Now())
		return err
	})
}
