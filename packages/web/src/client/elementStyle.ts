/** The style of the element. Every pair of colours has a contrast of at least 4.5 in light and in dark. */
export const STYLE = `
:host {
  color-scheme: light dark;
  --accent: var(--chat-accent, light-dark(#0b57d0, #a8c7fa));
  --on-accent: var(--chat-on-accent, light-dark(#fff, #062e6f));
  --background: var(--chat-background, light-dark(#fff, #16181d));
  --text: var(--chat-text, light-dark(#1b1c1f, #e8e9ec));
  --quiet: light-dark(#54585f, #b3b8c1);
  --raised: light-dark(#f1f3f6, #23262d);
  --line: light-dark(#c9cdd4, #464b55);
  --bad: light-dark(#b3261e, #f5a9a3);
  --good: light-dark(#146c2e, #86d69b);
  display: flex;
  flex-direction: column;
  gap: 0.5rem;
  box-sizing: border-box;
  height: 100%;
  min-height: 16rem;
  padding: 0.75rem;
  background: var(--background);
  color: var(--text);
  font: 1rem/1.5 var(--chat-font, system-ui, sans-serif);
}
:host([hidden]), [hidden] { display: none !important; }
*, ::before { box-sizing: border-box; }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; }
article { display: flex; flex-direction: column; gap: 0.5rem; margin: 0 auto 1rem; max-width: 48rem; }
.user { align-items: flex-end; }
.assistant { align-items: flex-start; }
.bubble { background: var(--raised); border-radius: 1rem; padding: 0.5rem 1rem; max-width: 85%; white-space: pre-wrap; overflow-wrap: anywhere; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 100%; }
.quiet { color: var(--quiet); }
.error { color: var(--bad); }
.call { border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.5rem 0.75rem; width: 100%; }
.call.error { color: inherit; border-color: var(--bad); }
summary { cursor: pointer; overflow-wrap: anywhere; }
pre { background: var(--raised); border-radius: 0.5rem; font: 0.85rem/1.45 ui-monospace, monospace; margin: 0.5rem 0; max-height: 20rem; overflow: auto; padding: 0.5rem 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; }
figure { margin: 0.5rem 0; }
.added { color: var(--good); }
.removed { color: var(--bad); }
table { border-collapse: collapse; display: block; max-width: 100%; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: 0.25rem 0.5rem; text-align: left; }
p { margin: 0; }
#notice { margin: 0 auto; max-width: 48rem; min-height: 1.5rem; width: 100%; }
form { display: flex; gap: 0.5rem; align-items: flex-end; margin: 0 auto; max-width: 48rem; width: 100%; }
textarea { flex: 1; min-width: 0; background: var(--background); border: 1px solid var(--quiet); border-radius: 0.75rem; color: inherit; font: inherit; padding: 0.5rem 0.75rem; resize: vertical; }
button { background: var(--raised); border: 1px solid var(--line); border-radius: 0.75rem; color: inherit; cursor: pointer; font: inherit; min-height: 2.75rem; padding: 0.25rem 1rem; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.small { background: none; border: 0; color: var(--quiet); font-size: 0.85rem; min-height: 1.75rem; padding: 0 0.5rem; text-decoration: underline; }
.log:not([data-status="idle"]) .small { display: none; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; }
.question { margin-top: 0.5rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 30rem) { form { flex-direction: column; align-items: stretch; } form .log:not([data-status="idle"]) .small { display: none; }
.buttons { justify-content: flex-end; } }
`;
