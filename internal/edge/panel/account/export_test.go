package account

import (
	"context"

	"carillon/internal/account/mail"
	"carillon/internal/edge/panel/member"
)

// Limits that tests reach.
const (
	AccountMails  = accountMails
	CompanyMails  = companyMails
	LinkTries     = linkTries
	AttemptRate   = attemptRate
	AttemptCookie = attemptCookie
)

// Attempt is the sign-in state kept in the browser.
type Attempt = attempt

var (
	ForgottenMail      = forgottenMail
	OwnPath            = ownPath
	MaxInvitationMails = invitationMails.maxPerAddress
	MaxPasswordMails   = passwordMails.maxPerAddress
)

func (x Forgotten) Message(ctx context.Context, address, language string) (*mail.Message, error) {
	return x.message(ctx, address, language)
}

func (l Letters) DeliverInvitation(ctx context.Context, by member.Member, m mail.Message) (bool, string, error) {
	return l.deliver(ctx, by, invitationMails, m)
}
