import { describe, expect, it } from 'vitest';
import { fitId, fitName } from '../../worktrees/fit-name.ts';
import { liveOverlaps, mayOverlap, overlapping, overlapWarning } from '../../worktrees/overlap.ts';

const touching = (id: string, touches: string[], files: string[] = []) => ({ id, touches, files });

describe('tasks that touch files', () => {
  it.each([
    ['src/a.ts', 'src/a.ts', true],
    ['src/a.ts', 'src/b.ts', false],
    ['src', 'src/new.ts', true],
    ['src/', 'srcs/new.ts', false],
    ['src/**', 'src/deep/**/*.ts', true],
    ['src/**/*.ts', 'src/a.css', false],
    ['**/*.md', 'src/a.ts', false],
    ['**/*.md', 'docs/a.md', true],
    ['**/*.md', '.github', true],
    ['**/*', 'a', true],
    ['docs/**', 'src/**', false],
    ['app/[id]/page.tsx', 'app/[id]/page.tsx', true],
    ['./src/a.ts', 'src/a.ts', true],
  ])('with the patterns %s and %s may change the same new file: %s', (one, other, expected) => {
    expect(mayOverlap(touching('a', [one]), touching('b', [other]))).toBe(expected);
    expect(mayOverlap(touching('b', [other]), touching('a', [one]))).toBe(expected);
  });

  it('overlap when their patterns match the same tracked file, and not when they say nothing', () => {
    const tasks = [
      touching('a', ['x/**'], ['same']),
      touching('b', ['y/**'], ['same', 'other']),
      touching('c', ['z/**'], ['third']),
      touching('d', []),
    ];
    expect(Object.fromEntries(overlapping(tasks))).toEqual({ a: ['b'], b: ['a'], c: [], d: [] });
  });

  it('are named with each path that several of them have changed by now', () => {
    const live = [
      { id: 'b', paths: ['one', 'two', 'two'] },
      { id: 'a', paths: ['two', 'three'] },
      { id: 'c', paths: ['two', 'one'] },
    ];
    const found = liveOverlaps(live);
    expect(found).toEqual([
      { path: 'one', ids: ['b', 'c'] },
      { path: 'two', ids: ['a', 'b', 'c'] },
    ]);
    expect(found.map(overlapWarning)[1]).toBe(
      'a, b and c are changing two at the same time; whichever is merged later may conflict',
    );
  });
});

describe('a name that is made fit for git', () => {
  it.each([
    ['Spring clean!', 'spring-clean'],
    ['../..', 'mission'],
    ['-rf /', 'rf'],
    ['a..b.lock.lock', 'a.b'],
    ['Über uns', 'über-uns'],
  ])('%s is %s', (name, expected) => {
    expect(fitName(name)).toBe(expected);
  });

  it('tells ids apart that are made fit', () => {
    expect(fitId('T012')).toBe('T012');
    expect(new Set(['x', 'x.lock', 'x.', 'x..'].map(fitId)).size).toBe(4);
  });
});
