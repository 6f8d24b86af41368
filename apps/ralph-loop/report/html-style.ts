/** The style of the report's page, for light and dark mode. */
export const REPORT_STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; }
h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
h3 { margin-bottom: 0; }
h3 small { font-weight: normal; opacity: 0.7; }
article p { margin: 0.2rem 0 0.6rem; }
table { border-collapse: collapse; width: 100%; margin: 0.4rem 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-top: 1px solid var(--line); }
thead th { border-top: 0; font-weight: 600; opacity: 0.7; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
code.evidence { opacity: 0.7; }
summary { cursor: pointer; padding: 0.2rem 0; }
summary.critical, summary.high, .bad { color: light-dark(#b3261e, #ff8a80); font-weight: 600; }
summary.medium { color: light-dark(#8a5a00, #ffca6b); font-weight: 600; }
.good { color: light-dark(#1b6e2c, #7ddc8f); }
footer { margin: 3rem 0 1rem; opacity: 0.6; }
`;
