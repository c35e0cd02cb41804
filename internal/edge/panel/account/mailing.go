package account

import (
	"context"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/account/mail"
	"carillon/internal/base/config"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/seal"
)

// mails is a kind of e-mails to people who did not ask for them, or did not prove that they did. They leave by the operator's server, whose
// reputation all companies share.
type mails struct {
	name string
	most int // a day to one address
}

//nolint:gochecknoglobals // read only
var (
	invitationMails = mails{"invitation", 5}
	passwordMails   = mails{"password", 20}
)

const (
	companyMails = 200 // a day of one company, of all kinds
	accountMails = 100 // a day of one of its members
)

// Letters sends e-mails within the bounds of a day.
type Letters struct {
	Limits *limit.Limits
	Mail   Mailer // nil: no e-mails are sent
}

// deliver sends an e-mail on behalf of a member, where the installation can and may today. problem says why it did not leave: in the
// server's words, or that there were enough.
func (d Letters) deliver(ctx context.Context, by member.Member, kind mails, x mail.Message) (sent bool, problem string, err error) {
	if d.Mail == nil {
		return false, "", nil
	}
	for _, bound := range []struct {
		name    string
		most    int
		problem string
	}{
		{"mails/account/" + by.AccountID, accountMails, "You have sent as many e-mails today as one person may"},
		{"mails/company/" + by.CompanyID, companyMails, "The company has sent as many e-mails today as it may"},
		{kind.to(x.To), kind.most, "This address got as many e-mails of this kind today as anybody may"},
	} {
		err := d.Limits.AllowToday(ctx, bound.name, bound.most)
		if carillon.IsCode(err, carillon.RateLimitExceeded) {
			return false, bound.problem, nil
		}
		if err != nil {
			return false, "", err
		}
	}
	if err := d.Mail.Send(ctx, x); err != nil {
		return false, err.Error(), nil
	}
	return true, "", nil
}

// to is the name of the count of e-mails to an address.
func (k mails) to(address string) string {
	return "mails/" + k.name + "/" + seal.Digest(config.FoldEmail(address))
}

// enough counts an e-mail to an address, and reports whether it got enough of the kind today.
func (d Letters) enough(ctx context.Context, kind mails, address string) (bool, error) {
	err := d.Limits.AllowToday(ctx, kind.to(address), kind.most)
	if carillon.IsCode(err, carillon.RateLimitExceeded) {
		return true, nil
	}
	return false, err
}
