import { htmlEscape as html } from 'escape-goat';
import { PAGE_STYLE } from './html-style.ts';

/** Markup that is escaped already. */
export type Fragment = string;

/** A page that needs nothing else: no script, font, picture or link. */
export function htmlPage(title: string, body: readonly Fragment[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
${html`<title>${shown(title)}</title>`}
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
${body.filter((part) => part !== '').join('\n')}
</main>
</body>
</html>
`;
}

/** Text with what readers would not see as a sign of its own: control characters, and marks that turn the direction. */
export const shown = (text: string): string =>
  text.replace(/[\p{Cc}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu, '\ufffd');

export const escaped = (text: string): Fragment => html`${shown(text)}`;

/** What a link within the page leads to. */
export const anchorOf = (name: string): string => `m-${name.replace(/[^\w.-]+/g, '-')}`;

/** A table; the first cell of each row names it. */
export function htmlTable(head: readonly string[], rows: readonly (readonly Fragment[])[]): Fragment {
  const headCells = head.map((cell) => html`<th scope="col">${cell}</th>`).join('');
  const body = rows.map(([first = '', ...cells]) => {
    return `<tr><th scope="row">${first}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<div class="wide"><table><thead><tr>${headCells}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table></div>`;
}

export function htmlList(title: string, kind: string, lines: readonly string[]): Fragment {
  if (lines.length === 0) return '';
  const items = lines.map((line) => `<li>${escaped(line)}</li>`).join('');
  return `<section class="${kind}"><h2>${escaped(title)}</h2><ul>${items}</ul></section>`;
}
