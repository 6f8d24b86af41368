/**
 * Runs the audit on this repository, draws what it prints as docs/run.svg, and writes its last line beside the picture in
 * README.md: npm run picture. With the name of a file it draws what a run has printed into that: npm run picture -- FILE
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const PICTURE = 'docs/run.svg';
const COLUMNS = 124;
/** A picture has room for so many lines of the beginning and the end; what is between is left out, and that is shown. */
const ROWS = { first: 26, last: 5 };
const BLOCK = /(<!-- run: [^\n]*-->\n).*?(\n<!-- \/run -->)/s;

/** What a line says is seen in its colour. */
const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/^\$ /, '#8be9fd'],
  [/^(CRITICAL|HIGH)\b/, '#ff7b72'],
  [/^MEDIUM\b/, '#e3b341'],
  [/^(LOW|INFO)\b/, '#a5d6ff'],
  [/^(Tasks|Findings|Receipts)\b/, '#d2a8ff'],
  [/\baccepted\b/, '#7ee787'],
];
const PLAIN = '#c9d1d9';
const LINE = { height: 18, width: 7.25, top: 52, left: 18 };

const [file] = process.argv.slice(2);
const printed = file === undefined ? outputOfRun() : readFileSync(file, 'utf8');
const lines = stripVTControlCharacters(printed).replaceAll(process.cwd(), '.').trim().split('\n');
const closing = lines.at(-1) ?? '';

writeFileSync(PICTURE, pictureOf(['$ npm start', ...shortened(lines)]));
const readme = readFileSync('README.md', 'utf8');
const said = closing.replaceAll(/[[\]]/g, '');
writeFileSync('README.md', readme.replace(BLOCK, `$1![${said}](${PICTURE})$2`));
console.log(closing);

function outputOfRun(): string {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--conditions=orrery-source', 'apps/cli/main.ts', 'run'],
    { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (status !== 0) throw new Error(`The run ended with ${status}`);
  return stdout;
}

function shortened(all: readonly string[]): readonly string[] {
  const { first, last } = ROWS;
  if (all.length <= first + last) return all;
  return [...all.slice(0, first), `  ... ${all.length - first - last} lines more`, ...all.slice(-last)];
}

function pictureOf(rows: readonly string[]): string {
  const height = LINE.top + rows.length * LINE.height + 8;
  const width = Math.round(2 * LINE.left + COLUMNS * LINE.width);
  const texts = rows.map((row, at) => {
    const colour = COLOURS.find(([pattern]) => pattern.test(row))?.[1] ?? PLAIN;
    const y = LINE.top + at * LINE.height;
    return `<text x="${LINE.left}" y="${y}" fill="${colour}" xml:space="preserve">${escaped(cut(row))}</text>`;
  });
  const lights = ['#ff5f56', '#ffbd2e', '#27c93f'].map(
    (colour, at) => `<circle cx="${22 + 20 * at}" cy="20" r="6" fill="${colour}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">
<title>What a run prints</title>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${[...lights, ...texts].join('\n')}
</svg>
`;
}

function cut(row: string): string {
  return row.length <= COLUMNS ? row : `${row.slice(0, COLUMNS - 3)}...`;
}

function escaped(row: string): string {
  return row.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
