import { describe, expect, it } from 'vitest';
import type { Key } from '../../../top/key-reader.ts';
import { FIRST_VIEW, type Item, pressed, type TopView } from '../../../top/top-view.ts';

const items: Item[] = ['mars', 'venus', 'earth'].map((id) => ({ id, opens: { kind: 'agent', id } }));
const press = (keys: readonly (Key | string)[], view: TopView = FIRST_VIEW): TopView => {
  let now = view;
  for (const key of keys) {
    const next = pressed(now, NAMES.has(key as string) ? (key as Key) : { typed: key as string }, items);
    if (next === 'quit') throw new Error('it was ended');
    now = next;
  }
  return now;
};
const NAMES = new Set(['up', 'down', 'enter', 'escape', 'backspace', 'home', 'end', 'page-down']);

describe('the keys of orrery top', () => {
  it('move the choice, and keep it on the page', () => {
    expect(press(['down']).selectedId).toBe('mars');
    expect(press(['down', 'j']).selectedId).toBe('venus');
    expect(press(['down', 'down', 'down', 'down', 'down']).selectedId).toBe('earth');
    expect(press(['end', 'k']).selectedId).toBe('venus');
    expect(press(['end', 'g']).selectedId).toBe('mars');
    expect(pressed(FIRST_VIEW, 'down', [])).toMatchObject({ selectedId: undefined });
  });

  it('open what is chosen, scroll in it, and lead back', () => {
    const open = press(['down', 'down', 'enter']);
    expect(open.opened).toEqual({ kind: 'agent', id: 'venus' });
    expect(press(['down', 'down', 'up'], open)).toMatchObject({ scroll: 1, selectedId: 'venus' });
    expect(press(['escape'], open)).toMatchObject({ opened: undefined, selectedId: 'venus' });
    expect(press(['enter'])).toMatchObject({ opened: { id: 'mars' } });
  });

  it('turn pages; the same key again, or Escape, leads to the team', () => {
    expect(['t', 'w', 'c', 'a'].map((key) => press([key]).page)).toEqual([
      'trouble',
      'work',
      'conversations',
      'team',
    ]);
    expect(press(['t', 't']).page).toBe('team');
    expect(press(['c', 'escape']).page).toBe('team');
  });

  it('go into the filter until Enter keeps it or Escape drops it', () => {
    expect(press(['/', 'q', '?', 'enter'])).toMatchObject({ filter: 'q?', isTyping: false });
    expect(press(['/', 'a', 'b', 'backspace', 'backspace', 'backspace']).filter).toBe('');
    expect(press(['/', 'a', 'escape'])).toMatchObject({ filter: '', isTyping: false });
    expect(press(['/', 'a', 'enter', 'escape']).filter).toBe('');
    expect(press(['/', ...'x'.repeat(100)]).filter).toHaveLength(40);
  });

  it('sort, pause, help, and end', () => {
    expect(press(['s']).sort).toBe('trouble');
    expect(press(['s', 's', 's', 's', 's']).sort).toBe('place');
    expect(press(['p']).isPaused).toBe(true);
    expect(press(['p', 'p']).isPaused).toBe(false);
    expect(press(['?', 'x']).isHelp).toBe(false);
    expect(pressed(FIRST_VIEW, { typed: 'q' }, items)).toBe('quit');
    expect(pressed(press(['/']), 'ctrl-c', items)).toBe('quit');
  });
});
