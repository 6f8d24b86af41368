import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditDocs } from '../../audit/docs/audit-docs.ts';
import { markdownNodes } from '../../audit/markdown/parse-markdown.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const audit = (root: string) => auditDocs(root, new ProgressCounter());

describe('CALLISTO', () => {
  it('finds everything that is planted, and no decoy', async () => {
    const root = fixturePath('callisto');
    const { findings, notes } = await audit(root);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it('says what is missing: of a package at its name, else in a note', async () => {
    using repo = new TemporaryFolder();
    expect(await audit(repo.path)).toMatchObject({
      findings: [],
      notes: [{ kind: 'empty' }, { kind: 'no-readme', reason: 'there is no README' }],
    });
    writeFileSync(join(repo.path, 'package.json'), '{\n  "name": "a",\n  "private": true\n}\n');
    const { findings, notes } = await audit(repo.path);
    expect(spotsOf(findings)).toEqual(['docs.no-readme package.json:2']);
    expect(notes).toEqual([]);
    mkdirSync(join(repo.path, '.github'));
    writeFileSync(join(repo.path, '.github/readme.md'), '# A\n');
    expect((await audit(repo.path)).findings).toEqual([]);
  });

  it('notes what is nested too deeply, and reads the rest', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'README.md'), '> '.repeat(5_000));
    writeFileSync(join(repo.path, 'stars.md'), '*_'.repeat(8_000));
    writeFileSync(join(repo.path, 'link.md'), '[a](gone.md)\n');
    const { findings, notes } = await audit(repo.path);
    expect(spotsOf(findings)).toEqual(['docs.broken-link link.md:1']);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([['unparsable', 'README.md']]);
  });

  it('places what it finds in long documents, cut neither in code nor in comments', () => {
    const filler = '# Heading\n\nWords and *words*.\n\n'.repeat(100);
    const fence = `\`\`\`md\n${'# [code](a.md)\n'.repeat(400)}\`\`\`\n`;
    const comment = `<!--\n${'# [comment](a.md)\n'.repeat(400)}-->\n`;
    const text = `${filler}${fence}${comment}${filler}[link](b.md)\n\n${'| row | [row](c.md) |\n'.repeat(4_000)}`;
    const links = [...markdownNodes(text)].filter(({ node }) => node.type === 'link');
    expect(links).toHaveLength(4_001);
    for (const { start, end } of links)
      expect(text.slice(start, end)).toMatch(/^\[(link|row)\]\((b|c)\.md\)$/);
  });
});
