package e2e

// teamCalls returns the calls to the routes of invitations, forgotten passwords, second factors and single sign-on.
func teamCalls(panel func(more ...call) []call, withBody func(body string, calls []call) []call) map[string][]call {
	page := []string{"X-Carillon-Panel", "1"}
	asPage := func(body string) []call { return []call{{kind: own, body: body, header: page}} }
	return map[string][]call{
		"DELETE /panel/v1/users/{id}/second-factor": panel(call{}),
		"POST /panel/v1/users/{id}/password-link":   withBody(`{}`, panel(call{})),
		"GET /panel/v1/invitations":                 panel(call{kind: own}),
		"POST /panel/v1/invitations": withBody(`{"email":"invited@beta.test","role":"viewer"}`,
			panel(call{kind: own})),
		"POST /panel/v1/invitations/{id}/resend":           withBody(`{}`, panel(call{})),
		"DELETE /panel/v1/invitations/{id}":                panel(call{}),
		"POST /panel/v1/invitation":                        asPage(`{"token":"guessed"}`),
		"POST /panel/v1/invitation/accept":                 asPage(`{"token":"guessed","name":"B","password":"long-enough-password"}`),
		"POST /panel/v1/forgotten":                         asPage(`{"email":"owner@alpha.test"}`),
		"POST /panel/v1/forgotten/password":                asPage(`{"token":"guessed","password":"long-enough-password"}`),
		"GET /panel/v1/sso":                                asPage(""),
		"GET /panel/v1/sso/callback":                       asPage(""),
		"GET /panel/v1/user/second-factor":                 asPage(""),
		"POST /panel/v1/user/second-factor":                asPage(`{"present":"wrong"}`),
		"POST /panel/v1/user/second-factor/confirm":        asPage(`{"code":"000000"}`),
		"POST /panel/v1/user/second-factor/recovery-codes": asPage(`{"code":"000000"}`),
		"POST /panel/v1/user/second-factor/remove":         asPage(`{"present":"wrong","code":"000000"}`),
	}
}
