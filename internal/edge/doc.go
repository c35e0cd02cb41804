// Package edge is the room of everything that speaks HTTP to a caller or a browser: the public interface (api), the panel, the widgets on
// customers' pages (widget), the documentation (manual), the server for assistants
// (mcp), and what operators ask (ops, control). They share httpio, which server listens for. Start reading in api.
package edge
