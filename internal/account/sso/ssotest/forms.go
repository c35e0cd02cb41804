package ssotest

// Forms returns common servers as documented and observed, each with a person whose e-mail is ana@example.org.
func Forms() map[string]Form {
	return map[string]Form{"Auth0": Auth0(), "Authentik": Authentik(), "Entra ID": EntraID(), "Keycloak": Keycloak(), "Google": Google()}
}

// Auth0 has issuers with a trailing slash.
func Auth0() Form {
	return Form{
		Path: "/",
		Server: map[string]any{
			"scopes_supported":                      []string{"openid", "profile", "offline_access", "email"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post", "private_key_jwt"},
			"id_token_signing_alg_values_supported": []string{"HS256", "RS256", "PS256"}, "request_parameter_supported": false,
		},
		Claims: map[string]any{
			"sub": "auth0|65f1c0ffee", "nickname": "ana", "name": "ana@example.org",
			"picture": "https://s.gravatar.com/avatar/x", "updated_at": "2026-02-01T08:00:00.000Z",
			"email": "ana@example.org", "email_verified": true, "sid": "s-1",
		},
	}
}

// Authentik has one issuer per application, with a trailing slash, and keys that are not for signing.
func Authentik() Form {
	return Form{
		Path:   "/application/o/carillon/",
		Server: map[string]any{"subject_types_supported": []string{"public"}},
		Claims: map[string]any{
			"sub": "9f86d081884c7d65", "acr": "goauthentik.io/providers/oauth2/default", "amr": []string{"pwd"},
			"azp": "carillon", "uid": "u1", "auth_time": 1769933000, "groups": []string{"staff"},
			"email": "ana@example.org", "email_verified": true, "name": "Ana", "given_name": "Ana",
			"preferred_username": "ana", "nickname": "ana",
		},
		Keys: []any{map[string]any{"kty": "RSA", "use": "enc", "alg": "RSA-OAEP-256", "kid": "enc", "n": "AQAB", "e": "AQAB"}},
	}
}

// EntraID does not state whether e-mails are verified. Its keys name their issuer.
func EntraID() Form {
	return Form{
		Path: "/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
		Server: map[string]any{
			"tenant_region_scope": "EU", "cloud_instance_name": "microsoftonline.com", "http_logout_supported": true,
			"token_endpoint_auth_methods_supported": []string{"client_secret_post", "private_key_jwt", "client_secret_basic"},
		},
		Claims: map[string]any{
			"sub": "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ", "oid": "00000000-0000-0000-66f3-3332eca7ea81",
			"tid": "9188040d-6c67-4c5b-b112-36a304b66dad", "ver": "2.0",
			"aio": "Df2UVXL1ix", "rh": "0.AXo", "uti": "u", "name": "Ana", "preferred_username": "ana@example.org",
			"email": "ana@example.org",
		},
		Info: map[string]any{"sub": "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ", "name": "Ana", "email": "ana@example.org"},
	}
}

// Keycloak has one issuer per realm, and also has keys for encryption.
func Keycloak() Form {
	return Form{
		Path: "/realms/acme",
		Server: map[string]any{
			"id_token_signing_alg_values_supported": []string{"PS384", "RS384", "EdDSA", "ES384", "HS256", "ES256", "RS256", "PS256"},
			"mtls_endpoint_aliases":                 map[string]any{}, "backchannel_logout_supported": true,
		},
		Claims: map[string]any{
			"sub": "3b1c2f8e-0000-4000-8000-000000000001", "typ": "ID", "azp": "carillon", "sid": "s-2", "acr": "1",
			"auth_time": 1769933000, "jti": "onrtac:1",
			"email": "ana@example.org", "email_verified": true, "name": "Ana", "preferred_username": "ana", "given_name": "Ana",
			"family_name": "",
		},
		Keys: []any{
			map[string]any{"kid": "e1", "kty": "RSA", "alg": "RSA-OAEP", "use": "enc", "n": "AQAB", "e": "AQAB"},
			map[string]any{"kid": "x1", "kty": "OKP", "crv": "X25519", "use": "enc", "x": "AQAB"},
			map[string]any{"kid": "o1", "kty": "OKP", "crv": "Ed448", "use": "sig", "x": "AQAB"},
		},
	}
}

// Google names the application twice and includes the hosted domain.
func Google() Form {
	return Form{
		Server: map[string]any{
			"revocation_endpoint": "https://oauth2.googleapis.com/revoke", "code_challenge_methods_supported": []string{"plain", "S256"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_post", "client_secret_basic"},
		},
		Claims: map[string]any{
			"sub": "110169484474386276334", "azp": "carillon", "hd": "example.org", "email": "ana@example.org", "email_verified": true,
			"at_hash": "HK6E_P6Dh8Y93mRNtsDB1Q", "name": "Ana", "picture": "https://lh3.googleusercontent.com/a", "given_name": "Ana",
		},
	}
}
