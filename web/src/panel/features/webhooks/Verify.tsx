import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { useTexts } from "../../i18n";
import { Card, Copy } from "../../ui/parts";
import { texts } from "./texts";
import "./webhooks.css";

const code = {
  node: `// npm install express standardwebhooks
import express from "express";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
express().post("/hook", express.raw({ type: "*/*" }), (req, res) => {
  let event;
  try { event = webhook.verify(req.body, req.headers); } catch { return res.sendStatus(401); }
  console.log(event.type, event.data);
  res.sendStatus(204);
}).listen(3000);`,
  go: `// go get github.com/standard-webhooks/standard-webhooks/libraries
hook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
if err != nil {
	log.Fatal(err)
}
http.HandleFunc("POST /hook", func(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || hook.Verify(body, r.Header) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	log.Print(string(body))
	w.WriteHeader(http.StatusNoContent)
})`,
};

/** Verify is code that checks the signature of what arrives. */
export function Verify() {
  const t = useTexts(texts);
  const [language, setLanguage] = useState<keyof typeof code>("node");
  return (
    <Card title={t.verify}>
      <div className="stack">
        <p style={{ margin: 0, maxWidth: "70ch" }}>
          {t.verifyText}{" "}
          <a href="/docs/guides/webhooks" target="_blank" rel="noopener">
            {t.guide}
          </a>
        </p>
        <div>
          <div className="hook-code-head">
            <SegmentedControl
              size="xs"
              aria-label={t.verify}
              value={language}
              onChange={(l) => setLanguage(l)}
              data={[
                { value: "node", label: "Node" },
                { value: "go", label: "Go" },
              ]}
            />
            <Copy value={code[language]} label={t.copyCode} />
          </div>
          <pre className="hook-code lines" tabIndex={0} aria-label={t.verify}>
            {code[language]}
          </pre>
        </div>
      </div>
    </Card>
  );
}
