/**
 * The bar above GraphiQL: fields for key and token, which it adds to the page's requests as headers, and a line that says
 * what to do where the API refuses to describe itself. What is typed stays in the browser's tab (`sessionStorage`).
 */

/** What the bar is told. */
export interface BarSettings {
  readonly endpoint: string;
  /** Filled into the field for the key; null leaves it empty. */
  readonly apiKey: string | null;
  /** Variables of the first tab, as JSON, for a browser that has not been here before. */
  readonly variables: string | null;
}

/** HTML of the bar, to stand before every other script of the page, so that its `fetch` is the one they use. */
export function graphiqlBar(settings: BarSettings): string {
  // No text of the settings can end the script element around it.
  const json = JSON.stringify(settings).replaceAll('<', '\\u003c');
  return html.replace('"__SETTINGS__"', () => json);
}

const html = `<style>
  body { display: flex; flex-direction: column; height: 100vh; margin: 0; }
  #root { flex: 1; min-height: 0; }
  #root > *, .graphiql-container { height: 100% !important; }
  #bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 8px 12px; background: #1f2937; color: #f9fafb;
    font: 14px system-ui, sans-serif; }
  #bar label { display: flex; gap: 6px; align-items: center; flex: 1 1 220px; white-space: nowrap; }
  #bar input { flex: 1; min-width: 80px; padding: 5px 8px; border: 1px solid #4b5563; border-radius: 4px; background: #111827;
    color: inherit; font: 13px ui-monospace, monospace; }
  #bar button { padding: 5px 14px; border: 0; border-radius: 4px; background: #2563eb; color: #fff; font: inherit; cursor: pointer; }
  #note { padding: 8px 12px; background: #fef3c7; color: #78350f; font: 14px system-ui, sans-serif; }
  #note[hidden] { display: none; }
  #note code { font: 13px ui-monospace, monospace; }
</style>
<form id="bar" aria-label="Credentials">
  <label>API key <input id="key" name="key" autocomplete="off" spellcheck="false" placeholder="apikey header"></label>
  <label>Token <input id="token" name="token" autocomplete="off" spellcheck="false" placeholder="optional: a user's access token"></label>
  <button type="submit">Use</button>
</form>
<div id="note" role="status" hidden></div>
<script>
  (() => {
    const settings = "__SETTINGS__";
    const key = document.getElementById('key');
    const token = document.getElementById('token');
    const note = document.getElementById('note');
    key.value = sessionStorage.getItem('pgreflect:key') ?? settings.apiKey ?? '';
    token.value = sessionStorage.getItem('pgreflect:token') ?? '';
    // GraphiQL stores its tabs when one runs, and the text of the editor only when it is edited. Loaded again between the
    // two, it would open an empty tab in front of the stored ones.
    const restore = (name, value) => {
      if (value) localStorage.setItem('graphiql:' + name, value);
      else localStorage.removeItem('graphiql:' + name);
    };
    try {
      const stored = JSON.parse(localStorage.getItem('graphiql:tabState'));
      if (stored) {
        const tabs = stored.tabs.filter((tab) => tab.query || tab.variables);
        const active = tabs[Math.min(stored.activeTabIndex, tabs.length - 1)];
        restore('tabState', active && JSON.stringify({ ...stored, tabs, activeTabIndex: tabs.indexOf(active) }));
        if (!localStorage.getItem('graphiql:query')) {
          restore('query', active?.query);
          restore('variables', active?.variables);
        }
      }
    } catch {
      restore('tabState', null);
    }
    // GraphiQL takes the variables of its first tab from here only, whatever the tab's own say.
    if (settings.variables && !localStorage.getItem('graphiql:tabState')) {
      localStorage.setItem('graphiql:variables', settings.variables);
    }
    // The documentation is read once, when the page loads: with other credentials it has to be read again.
    document.getElementById('bar').addEventListener('submit', (event) => {
      event.preventDefault();
      sessionStorage.setItem('pgreflect:key', key.value.trim());
      sessionStorage.setItem('pgreflect:token', token.value.trim());
      location.reload();
    });

    const show = (...parts) => {
      note.replaceChildren(...parts);
      note.hidden = parts.length === 0;
    };
    const code = (text) => Object.assign(document.createElement('code'), { textContent: text });
    const explain = (error) => {
      const reason = error?.extensions?.code;
      if (reason === 'UNAUTHENTICATED') {
        show(key.value ? \`\${error.message}. \` : 'Type the API key of the project and press Use. ');
      } else if (reason === 'INTROSPECTION_DISABLED' || /^Unknown field "__schema"/.test(error?.message ?? '')) {
        const hint = error.extensions?.hint;
        show('Introspection is off, so there is no documentation and no completion here; requests work. ',
          ...(hint ? [code(hint)] : ['The comment of the schema turns it on: ', code('@graphql({"introspection": true})')]));
      }
    };

    const send = window.fetch.bind(window);
    window.fetch = async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : String(input), location.href);
      if (url.origin !== location.origin || url.pathname !== settings.endpoint) return send(input, init);
      const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
      if (key.value.trim() && !headers.has('apikey')) headers.set('apikey', key.value.trim());
      if (token.value.trim() && !headers.has('authorization')) headers.set('authorization', \`Bearer \${token.value.trim()}\`);
      const response = await send(input, { ...init, headers });
      response.clone().json().then((body) => { if (body?.errors?.length) explain(body.errors[0]); }, () => {});
      return response;
    };
  })();
</script>
`;
