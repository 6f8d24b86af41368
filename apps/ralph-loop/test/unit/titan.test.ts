import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scanFiles } from '../../audit/file-scan.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { REALTIME_CHECK } from '../../audit/realtime/realtime-check.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => scanFiles(root, REALTIME_CHECK, new ProgressCounter());

async function rulesFor(text: string): Promise<string[]> {
  using repo = new TemporaryFolder();
  writeFileSync(join(repo.path, 'code.tsx'), text);
  return (await check(repo.path)).findings.map(({ rule }) => rule);
}

const effect = (body: string): string =>
  `import { useEffect } from 'react';\nexport const use = (tick) => useEffect(() => {\n${body}\n}, []);\n`;

describe('TITAN', () => {
  it('finds everything that is planted, and no decoy', async () => {
    const root = fixturePath('titan');
    const { findings, notes } = await check(root);
    expect(new Set(plantedIn(root).map((spot) => spot.split(' ')[0]))).toEqual(
      new Set(Object.keys(REALTIME_CHECK.rules)),
    );
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it.each([
    ['a listener', "window.addEventListener('resize', tick);"],
    ['an interval', 'const timer = setInterval(tick, 10);'],
    ['a stream of events', "const live = new EventSource('/events'); live.onerror = tick;"],
  ])('finds %s that an effect starts, until the effect ends it', async (_, start) => {
    expect(await rulesFor(effect(start))).toEqual(['realtime.no-cleanup']);
    expect(await rulesFor(effect(`${start}\nreturn () => stop();`))).toEqual([]);
    expect(await rulesFor(effect(`${start}\nreturn;`))).toEqual(['realtime.no-cleanup']);
    expect(await rulesFor(effect(`const later = () => { ${start} };\nbutton.onclick = later;`))).toEqual([]);
  });

  it('takes a listener that another function of the file removes for ended', async () => {
    const text = effect("window.addEventListener('resize', tick);");
    const removes = (event: string) =>
      `${text}export const end = () => window.removeEventListener('${event}', tick);`;
    expect(await rulesFor(removes('resize'))).toEqual([]);
    expect(
      await rulesFor(`${text}for (const event of all) window.removeEventListener(event, tick);`),
    ).toEqual([]);
    expect(await rulesFor(removes('scroll'))).toEqual(['realtime.no-cleanup']);
  });

  it('leaves alone what a file calls like the globals of a browser', async () => {
    const own =
      "import { useEffect } from 'react';\nimport { window, setInterval, WebSocket } from './fake';\n";
    const body =
      "useEffect(() => { window.addEventListener('a', b); setInterval(b, 1); new WebSocket('x'); });";
    expect(await rulesFor(`${own}export const use = (b) => ${body}`)).toEqual([]);
  });

  it('looks at no tests, and says that there is nothing else', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'code.test.ts'), effect('setInterval(tick, 10);'));
    expect(await check(repo.path)).toMatchObject({ findings: [], notes: [{ kind: 'empty' }], filesSeen: 0 });
  });

  it('names what it cannot read as a script', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'broken.ts'), 'setInterval(');
    writeFileSync(join(repo.path, 'made.ts'), '// @generated\nsetInterval(tick, 1);');
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['unparsable', 'broken.ts'],
      ['generated', 'made.ts'],
    ]);
  });
});
