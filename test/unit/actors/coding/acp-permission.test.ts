import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerPermission, isPermitted } from '../../../../actors/coding/acp/acp-permission.ts';
import { pathWithin } from '../../../../actors/coding/acp/path-within.ts';
import { CodingPermission } from '../../../../actors/coding/code-change.ts';
import { ToolKind } from '../../../../actors/coding/coding-event.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-within-')));
const root = join(base, 'tree');

beforeAll(() => {
  for (const folder of ['tree/src/deep', 'tree/.git/hooks', 'tree-2', 'outside'])
    mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, 'outside/file'), 'theirs');
  symlinkSync('../outside', join(root, 'out'));
  symlinkSync('../outside/file', join(root, 'file'));
  symlinkSync('../outside/none', join(root, 'dangling'));
  symlinkSync('src', join(root, 'in'));
  symlinkSync('loop', join(root, 'loop'));
});
afterAll(() => rmSync(base, { recursive: true }));

describe('A path', () => {
  it.each(['', '.', 'src', 'src/new', 'src/a/b/c', 'in/deep', 'src/..', '..tree/x', 'src/.gitignore'])(
    'is in the worktree: %j',
    (path) => {
      const real = pathWithin(root, path === '' ? root : path);
      expect(real === root || real?.startsWith(`${root}/`)).toBe(true);
    },
  );

  it('is the real one', () => {
    expect(pathWithin(root, 'in/new')).toBe(join(root, 'src/new'));
    expect(pathWithin(root, join(root, 'src'))).toBe(join(root, 'src'));
  });

  it.each(
    [
      '',
      '..',
      '../tree-2',
      '../tree-2/x',
      '/etc/passwd',
      'out',
      'out/file',
      'out/new',
      'file',
      'dangling',
      'loop/x',
    ].concat([
      'in/../../outside',
      'src/../../outside',
      'a\0b',
      '.git',
      '.git/hooks/new',
      'src/.git/config',
      '.GIT/config',
    ]),
  )('is not in the worktree: %j', (path) => {
    expect(pathWithin(root, path)).toBeUndefined();
  });
});

const options = (...kinds: string[]) => kinds.map((kind) => ({ optionId: `the ${kind}`, kind }));

describe('A permission that is asked for', () => {
  it('is given by what the ladder has, and by nothing else', () => {
    const given = CodingPermission.options.map((permission) =>
      ToolKind.options.filter((kind) => isPermitted(permission, { kind, paths: ['a'] }, () => true)),
    );
    const read = ['read', 'search', 'think'];
    const edit = [...read, 'edit', 'delete', 'move'];
    const run = [...edit, 'execute'];
    expect(given).toEqual([read, edit, run, [...ToolKind.options]]);
  });

  it('is never given for what is outside, below the permission for all', () => {
    const segment = fc.constantFrom('src', 'in', 'out', 'file', '..', '.git', 'dangling', 'tree-2', 'x', '');
    const path = fc
      .array(segment, { maxLength: 6 })
      .chain((parts) => fc.constantFrom(parts.join('/'), `/${parts.join('/')}`, join(root, ...parts)));
    fc.assert(
      fc.property(
        fc.constantFrom(...CodingPermission.options),
        fc.constantFrom(...ToolKind.options),
        fc.array(path, { maxLength: 4 }),
        (permission, kind, paths) => {
          const isAllowed = isPermitted(
            permission,
            { kind, paths },
            (each) => pathWithin(root, each) !== undefined,
          );
          const isOutside = paths.some((each) => pathWithin(root, each) === undefined);
          expect(isAllowed && isOutside && permission !== 'all').toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is not given for a change of nobody knows what', () => {
    expect(isPermitted('run', { kind: 'edit', paths: [] }, () => true)).toBe(false);
    expect(isPermitted('run', { kind: 'execute', paths: [] }, () => true)).toBe(true);
  });

  it('is answered for once, and with nothing where that is not offered', () => {
    const all = options('allow_always', 'allow_once', 'reject_always', 'reject_once');
    expect(answerPermission(true, all)).toEqual({ isAllowed: true, optionId: 'the allow_once' });
    expect(answerPermission(false, all)).toEqual({ isAllowed: false, optionId: 'the reject_once' });
    for (const isAllowed of [true, false]) {
      expect(answerPermission(isAllowed, options('allow_always', 'reject_always'))).toEqual({
        isAllowed: false,
      });
      expect(answerPermission(isAllowed, [])).toEqual({ isAllowed: false });
    }
  });

  it('is never answered with what is for good', () => {
    const kinds = fc.array(
      fc.constantFrom('allow_once', 'allow_always', 'reject_once', 'reject_always', 'new'),
    );
    fc.assert(
      fc.property(fc.boolean(), kinds, (isAllowed, offered) => {
        const answer = answerPermission(isAllowed, options(...offered));
        expect(answer.optionId ?? '').not.toContain('always');
        expect(answer.isAllowed).toBe(answer.optionId === 'the allow_once');
      }),
    );
  });
});
