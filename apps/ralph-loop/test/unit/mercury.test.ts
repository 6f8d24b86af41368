import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditArchitecture, cycleMessage } from '../../audit/architecture.ts';
import { findingId, sha256 } from '../../audit/evidence.ts';
import type { Finding } from '../../audit/finding.ts';
import { MemoryRelief } from '../../audit/memory-relief.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { scanSecurity } from '../../audit/security-scan.ts';
import { checkTypes } from '../../audit/types-check.ts';
import { verifyFindings } from '../../audit/verify-findings.ts';
import { copyOfFixture, TemporaryFolder } from './fixture.ts';

const LAYERS = [
  { name: 'core', match: ['core/**'], mayImport: [] },
  { name: 'app', match: ['app/**'], mayImport: ['core'] },
];

async function verify(root: string, findings: readonly Finding[]) {
  using memory = new MemoryRelief();
  return await verifyFindings(root, findings, { progress: new ProgressCounter(), memory });
}

const repos = new Map<string, TemporaryFolder>();
const found = new Map<string, Finding[]>();
const rootOf = (name: string): string => repos.get(name)?.path ?? '';
const findingsOf = (name: string): Finding[] => found.get(name) ?? [];

/** The finding with its id mended, so that only what is planted is wrong with it. */
const signed = (finding: Finding): Finding => ({ ...finding, id: findingId(finding) });

const pick = (name: string, rule: string): Finding => {
  const finding = findingsOf(name).find((one) => one.rule === rule);
  if (finding === undefined) throw new Error(`nothing of ${rule} was found`);
  return finding;
};

async function reasonAgainst(name: string, finding: Finding): Promise<string | undefined> {
  return (await verify(rootOf(name), [finding])).rejected[0]?.reason;
}

beforeAll(async () => {
  for (const name of ['mars', 'jupiter', 'enceladus']) repos.set(name, copyOfFixture(name));
  const progress = new ProgressCounter();
  found.set('mars', (await checkTypes(rootOf('mars'), progress)).findings);
  found.set('jupiter', (await auditArchitecture(rootOf('jupiter'), { layers: LAYERS, progress })).findings);
  found.set('enceladus', (await scanSecurity(rootOf('enceladus'), progress)).findings);
});
afterAll(() => {
  for (const repo of repos.values()) repo[Symbol.dispose]();
});

describe('MERCURY', () => {
  it.each(['mars', 'jupiter', 'enceladus'])('approves everything that %s really found', async (name) => {
    expect(findingsOf(name).length).toBeGreaterThan(5);
    expect(await verify(rootOf(name), findingsOf(name))).toEqual({
      verdict: 'APPROVED',
      approved: findingsOf(name),
      rejected: [],
      feedback: '',
    });
  });

  it('approves that there is nothing', async () => {
    expect(await verify(rootOf('mars'), [])).toMatchObject({ verdict: 'APPROVED', approved: [] });
  });

  it('keeps what holds beside what does not, and says what is wrong with that', async () => {
    const [good, other] = findingsOf('mars') as [Finding, Finding];
    const wrong = signed({ ...other, line: 999 });
    expect(await verify(rootOf('mars'), [good, wrong])).toEqual({
      verdict: 'NEEDS REVISION',
      approved: [good],
      rejected: [{ finding: wrong, reason: 'its file has no line 999' }],
      feedback: `1 of the findings does not hold. ${wrong.file}:999 (${wrong.rule}): its file has no line 999`,
    });
    expect(await verify(rootOf('mars'), [wrong])).toMatchObject({ verdict: 'REJECTED', approved: [] });
  });

  describe('refuses a finding', () => {
    const planted: [
      title: string,
      repo: string,
      rule: string,
      change: (f: Finding) => Finding,
      reason: RegExp,
    ][] = [
      ['at another line', 'mars', 'types.TS2322', (f) => ({ ...f, line: f.line + 1 }), /is blank|was hashed/],
      ['past the last line', 'mars', 'types.TS2322', (f) => ({ ...f, line: 5_000 }), /no line 5000/],
      ['past the end of the line', 'mars', 'types.TS2322', (f) => ({ ...f, column: 500 }), /no column 500/],
      ['in another file', 'mars', 'types.TS2305', (f) => ({ ...f, file: 'src/item.ts' }), /was hashed|blank/],
      [
        'in a file that is not there',
        'mars',
        'types.TS2305',
        (f) => ({ ...f, file: 'src/no.ts' }),
        /not exist/,
      ],
      ['in a folder', 'mars', 'types.TS2305', (f) => ({ ...f, file: 'src' }), /not a regular file/],
      ['below a file', 'mars', 'types.TS2305', (f) => ({ ...f, file: 'src/item.ts/x' }), /not exist/],
      [
        'outside',
        'mars',
        'types.TS2305',
        (f) => ({ ...f, file: '../mars/src/item.ts' }),
        /not a path inside/,
      ],
      [
        'outside, in between',
        'mars',
        'types.TS2305',
        (f) => ({ ...f, file: 'src/../../x.ts' }),
        /not a path inside/,
      ],
      [
        'by an absolute path',
        'mars',
        'types.TS2305',
        (f) => ({ ...f, file: '/etc/passwd' }),
        /not a path inside/,
      ],
      ['of no known rule', 'mars', 'types.TS2305', (f) => ({ ...f, rule: 'types.wrong' }), /not known/],
      [
        'of a rule named like a method',
        'mars',
        'types.TS2305',
        (f) => ({ ...f, rule: 'toString' }),
        /not known/,
      ],
      ["of another's rule", 'mars', 'types.TS2305', (f) => ({ ...f, rule: 'code.eval' }), /is not mars's/],
      [
        'more severe than its rule',
        'mars',
        'types.TS2305',
        (f) => ({ ...f, severity: 'critical' }),
        /is high there/,
      ],
      [
        'whose evidence is made up',
        'mars',
        'types.TS2305',
        (f) => ({ ...f, evidence: 'eval(x)' }),
        /evidence/,
      ],
      [
        'whose hash is made up',
        'mars',
        'types.TS2305',
        (f) => ({ ...f, lineSha256: '0'.repeat(64) }),
        /hashed/,
      ],
      [
        'with a trail it does not need',
        'mars',
        'types.TS2305',
        (f) => ({ ...f, trail: ['a', 'b'] }),
        /no trail/,
      ],
      [
        'of another rule at that place',
        'enceladus',
        'code.eval',
        (f) => ({ ...f, rule: 'code.new-function' }),
        /holds nothing/,
      ],
      [
        'of a circle without a trail',
        'jupiter',
        'architecture.cycle',
        ({ trail: _, ...f }) => f,
        /no two files/,
      ],
      [
        'of a circle that is not closed',
        'jupiter',
        'architecture.cycle',
        (f) => ({ ...f, trail: ['tangle/b.ts', f.file, 'tangle/a.ts'] }),
        /does not end where it began/,
      ],
      [
        'of a circle closed elsewhere',
        'jupiter',
        'architecture.cycle',
        (f) => ({ ...f, trail: ['app/main.ts', 'core/base.ts', 'app/main.ts'] }),
        /does not close its trail/,
      ],
      [
        'of a circle with lazy words',
        'jupiter',
        'architecture.cycle',
        (f) => ({ ...f, rule: 'architecture.lazy-cycle', severity: 'low' }),
        /through no import\(\)/,
      ],
      [
        'of a lazy circle as a static one',
        'jupiter',
        'architecture.lazy-cycle',
        (f) => ({ ...f, rule: 'architecture.cycle', severity: 'medium' }),
        /through an import\(\)/,
      ],
      [
        'of a circle in other words',
        'jupiter',
        'architecture.cycle',
        (f) => ({ ...f, message: 'Wrong' }),
        /message/,
      ],
    ];

    it.each(planted)('%s', async (_title, repo, rule, change, reason) => {
      const finding = pick(repo, rule);
      expect(await reasonAgainst(repo, finding)).toBeUndefined();
      expect(await reasonAgainst(repo, signed(change(finding)))).toMatch(reason);
    });

    it('whose id is not its own', async () => {
      expect(
        await reasonAgainst('mars', { ...pick('mars', 'types.TS2305'), message: 'Other words' }),
      ).toMatch(/id/);
    });

    it('of a secret where none is', async () => {
      const file = 'src/decoys.tsx';
      const text = readFileSync(join(rootOf('enceladus'), file), 'utf8').split('\n')[4] as string;
      const finding = { ...pick('enceladus', 'code.eval'), file, line: 5, column: 1 };
      const planted = signed({ ...finding, evidence: text, lineSha256: sha256(text) });
      expect(await reasonAgainst('enceladus', planted)).toBe('line 5 holds nothing of code.eval');
    });

    const closing = (over: Partial<Finding> & { trail: string[]; text: string }): Finding => {
      const { text, ...rest } = over;
      const base = { ...pick('jupiter', 'architecture.cycle'), message: cycleMessage(over.trail) };
      return signed({ ...base, ...rest, evidence: text.trim(), lineSha256: sha256(text) });
    };
    const lineOf = (file: string, line: number): string =>
      readFileSync(join(rootOf('jupiter'), file), 'utf8').split('\n')[line - 1] as string;

    it('of a circle through an import that is not there', async () => {
      const { file, line } = pick('jupiter', 'architecture.cycle');
      const planted = closing({
        trail: ['tangle/a.ts', 'tangle/c.ts', 'tangle/a.ts'],
        text: lineOf(file, line),
      });
      expect(await reasonAgainst('jupiter', planted)).toBe('tangle/a.ts does not import tangle/c.ts');
    });

    it('of a circle of types only', async () => {
      const file = 'types/two.ts';
      const trail = ['types/one.ts', file, 'types/one.ts'];
      const planted = closing({ file, line: 1, column: 21, trail, text: lineOf(file, 1) });
      expect(await reasonAgainst('jupiter', planted)).toBe('its trail runs through an import of types');
    });

    it('of a circle that the compiler erases', async () => {
      const file = 'types/kept.ts';
      const trail = ['types/erased.ts', file, 'types/erased.ts'];
      const planted = closing({ file, line: 1, column: 21, trail, text: lineOf(file, 1) });
      expect(await reasonAgainst('jupiter', planted)).toBe('its trail runs through an import of types');
    });

    it('of a circle at a line that imports something else', async () => {
      const finding = pick('jupiter', 'architecture.cycle');
      const { file, trail = [] } = finding;
      const planted = closing({ file, line: 2, column: 1, trail, text: lineOf(file, 2) });
      expect(await reasonAgainst('jupiter', planted)).toMatch(/^line 2 does not import/);
    });

    it.each(['linked.ts', 'linked/cart.ts'])(
      'in %s, which leads out through a symbolic link',
      async (file) => {
        using outside = new TemporaryFolder();
        writeFileSync(join(outside.path, 'cart.ts'), 'export const count: number = 3;\n');
        const link = join(rootOf('mars'), file.split('/')[0] as string);
        symlinkSync(file === 'linked.ts' ? join(outside.path, 'cart.ts') : outside.path, link);
        try {
          const planted = signed({ ...pick('mars', 'types.TS2322'), file });
          expect(await reasonAgainst('mars', planted)).toBe('its file leads out of the repository');
        } finally {
          unlinkSync(link);
        }
      },
    );

    it('in a binary file', async () => {
      mkdirSync(join(rootOf('mars'), 'bin'), { recursive: true });
      writeFileSync(join(rootOf('mars'), 'bin/data.ts'), Buffer.from([1, 0, 2]));
      const planted = signed({ ...pick('mars', 'types.TS2322'), file: 'bin/data.ts' });
      expect(await reasonAgainst('mars', planted)).toBe('its file is binary');
    });
  });
});
