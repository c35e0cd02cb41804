package account

import (
	"context"
	"net/http"
	"strings"
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

// Factors serves the caller's second factor, and its removal for members who lost theirs.
type Factors struct {
	Gate  *member.Gate
	Store *store.Store
}

func (s Factors) Routes() []httpio.Route {
	return []httpio.Route{
		member.Own(s.Gate, "GET", "/user/second-factor", s.show),
		member.Own(s.Gate, "POST", "/user/second-factor", s.propose).Taking(presentRequest{}),
		member.Own(s.Gate, "POST", "/user/second-factor/confirm", s.confirm).Taking(codeRequest{}),
		member.Own(s.Gate, "POST", "/user/second-factor/recovery-codes", s.recover).Taking(codeRequest{}),
		member.Own(s.Gate, "POST", "/user/second-factor/remove", s.removeOwn).Taking(removeFactorRequest{}),
		member.Route(s.Gate, "DELETE", "/users/{id}/second-factor", auth.MayWriteUsers, s.remove),
	}
}

func (s Factors) factors() auth.Factors { return auth.NewFactors(s.Gate.Auth) }

// factorState is the state of a second factor in a response.
type factorState struct {
	Enabled  bool    `json:"enabled"`
	Since    *string `json:"since"`
	Recovery int     `json:"recovery_codes"` // number of unused recovery codes
}

func (s Factors) show(r *http.Request, c *auth.Caller) (factorState, error) {
	x, err := s.factors().Of(r.Context(), c.Account.ID)
	if err != nil || x == nil {
		return factorState{}, err
	}
	return factorState{true, auth.TimeOrNull(x.ConfirmedAt), x.Recovery}, nil
}

// propose generates a secret for an authenticator app. It requires the current password.
func (s Factors) propose(r *http.Request, c *auth.Caller) (*auth.Proposal, error) {
	if _, err := withPassword[presentRequest](s, r, c); err != nil {
		return nil, err
	}
	return s.factors().Propose(r.Context(), c)
}

// presentRequest has the caller's current password.
type presentRequest struct {
	Present string `json:"present"`
}

// removeFactorRequest has the caller's current password and a code.
type removeFactorRequest struct {
	Present string `json:"present"`
	Code    string `json:"code"`
}

// withPassword reads a request body and checks the current password in it.
func withPassword[T any](s Factors, r *http.Request, c *auth.Caller) (*jsonbody.Object, error) {
	o, err := form.Body[T](r)
	if err != nil {
		return nil, err
	}
	present, err := secretOf(o, "present")
	if err != nil {
		return nil, err
	}
	return o, s.Gate.Auth.CheckPassword(r.Context(), c, present)
}

// recovery holds new recovery codes, which are shown only once.
type recovery struct {
	Codes []string `json:"recovery_codes"`
}

// codeRequest has a code of the authenticator.
type codeRequest struct {
	Code string `json:"code"`
}

func (s Factors) confirm(r *http.Request, c *auth.Caller) (recovery, error) {
	o, err := form.Body[codeRequest](r)
	if err != nil {
		return recovery{}, err
	}
	code, err := secretOf(o, "code")
	if err != nil {
		return recovery{}, err
	}
	codes, err := s.factors().Confirm(r.Context(), c, code)
	return recovery{codes}, err
}

// recover replaces the recovery codes. It requires a code from the authenticator.
func (s Factors) recover(r *http.Request, c *auth.Caller) (recovery, error) {
	o, err := form.Body[codeRequest](r)
	if err != nil {
		return recovery{}, err
	}
	code, err := secretOf(o, "code")
	if err != nil {
		return recovery{}, err
	}
	if err := s.factors().Check(r.Context(), c, code); err != nil {
		return recovery{}, err
	}
	codes, err := s.factors().Recover(r.Context(), c)
	return recovery{codes}, err
}

// removeOwn turns off the caller's second factor. It requires the current password and a code.
func (s Factors) removeOwn(r *http.Request, c *auth.Caller) (httpio.None, error) {
	o, err := withPassword[removeFactorRequest](s, r, c)
	if err != nil {
		return nil, err
	}
	code, err := secretOf(o, "code")
	if err != nil {
		return nil, err
	}
	if err := s.factors().Check(r.Context(), c, code); err != nil {
		return nil, err
	}
	return nil, s.Store.Config.Update(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.RemoveFactor(ctx, tx, c.Account.ID)
	})
}

// remove turns off the second factor of a member who lost it, and ends the member's sessions.
func (s Factors) remove(r *http.Request, by member.Member) (httpio.None, error) {
	id := strings.ToLower(r.PathValue("id"))
	if id == by.AccountID {
		return nil, carillon.InConflict(
			"Your own second factor is turned off with your password and a code: POST /panel/v1/user/second-factor/remove",
		)
	}
	return nil, s.Store.Config.Update(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := ownMember(ctx, tx, by, id); err != nil {
			return err
		}
		if err := accounts.RemoveFactor(ctx, tx, id); err != nil {
			return err
		}
		return accounts.EndSessions(ctx, tx, id, "", time.Now())
	})
}
