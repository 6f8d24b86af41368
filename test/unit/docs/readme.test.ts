import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);
const readme = readFileSync(new URL('README.md', ROOT), 'utf8');

describe('README.md', () => {
  it('is one page: at most 8 KB', () => {
    expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(8_192);
  });

  it('shows the picture of a run, and says beside it what that run said last', () => {
    const [, said = '', path = ''] = /<!-- run: .*-->\n!\[(.*)\]\((\S+)\)\n<!-- \/run -->/.exec(readme) ?? [];
    const picture = readFileSync(new URL(path, ROOT), 'utf8');
    const rows = [...picture.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, row]) => row);
    expect(rows[0]).toBe('$ npm start');
    expect(said).toMatch(/^orrery-audit .* tasks accepted/);
    expect(rows.at(-1)).toBe(said.length <= 124 ? said : `${said.slice(0, 121)}...`);
  });
});
