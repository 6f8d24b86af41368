import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MANIFEST } from './manifest.ts';

const titlesOf = (file: string): readonly string[] => {
  const source = readFileSync(file, 'utf8');
  const titles = source.matchAll(
    /\bit(?:\.each\([\s\S]*?\))?\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g,
  );
  return [...titles].map(([, single, double]) => (single ?? double ?? '').replaceAll("\\'", "'"));
};

/** The chapters of the specification that say what a server does over JSON-RPC and HTTP. */
const CHAPTERS = ['3.1', '3.2', '3.3', '3.4', '3.5', '3.6', '4', '5.4', '5.5', '7', '8', '9', '11', '13'];

describe('the manifest of the A2A specification', () => {
  it.each(MANIFEST)('$section ($asks) is shown by a test that is there', ({ test: [file, title] }) => {
    expect(titlesOf(file)).toContain(title);
  });

  it('covers every chapter that asks something of a server', () => {
    for (const chapter of CHAPTERS)
      expect(
        MANIFEST.some(
          ({ section }) => section.startsWith(`${chapter}.`) || section.startsWith(`${chapter} `),
        ),
      ).toBe(true);
  });

  it('says nothing twice', () => {
    const said = MANIFEST.map(({ section, asks, test }) => JSON.stringify([section, asks, test]));
    expect(new Set(said).size).toBe(said.length);
  });
});
