// Package widget serves the widgets that companies embed in their pages: the wrapper page, the chat page with its routes,
// and the configuration of chat and voice widgets. Package conversation implements the conversations themselves.
//
//	customer's page ─▶ wrapper (widgetWebView) or embed/chat.js ─▶ iframe {widget_url}/?cw_id=…
//	  ─▶ chat/session ─▶ chat/stream, chat/turns, …
//
// The wrapper and the embed script hold the access key; the iframe never sees it. It gets a session token for one contact
// and one conversation.
package widget
