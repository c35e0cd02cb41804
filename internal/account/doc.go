// Package account groups the packages for access control: passwords, keys and roles (auth), single sign-on (sso),
// mail, rate limits (limit) and the log of API calls (activity). Start reading in auth.
package account
