// Package widget serves the widgets that companies put on their pages: the wrapper page, the chat page and the routes that it
// calls, and the configuration of both kinds. What is said in a chat belongs to package conversation.
//
// customer's page ─▶ wrapper (widgetWebView) or embed/chat.js ─▶ iframe {widget_url}/?cw_id=… ─▶ chat/session ─▶ chat/stream,
// chat/turns, …
//
// The wrapper and the embed script hold the access key; the iframe never sees it. It gets a session token for one contact and one
// conversation.
package widget
